(function () {
  const frames = Array.from(document.querySelectorAll("[data-frame]"));
  const big = document.getElementById("big"), slider = document.getElementById("slider");
  const label = document.getElementById("label"), play = document.getElementById("play");
  if (!frames.length || !big) return;
  let timer = null;
  function show(i) {
    slider.value = i; big.src = sources[i].image;
    label.textContent = "step " + sources[i].step + ", time " + sources[i].time;
  }
  function stop() { clearInterval(timer); timer = null; play.textContent = "Play"; }
  play.onclick = function () {
    if (timer) { stop(); return; }
    if (+slider.value >= sources.length - 1) show(0);
    play.textContent = "Stop";
    timer = setInterval(function () {
      if (+slider.value >= sources.length - 1) stop(); else show(+slider.value + 1);
    }, 160);
  };
  slider.oninput = function () { stop(); show(+slider.value); };
  frames.forEach(function (f) { f.onclick = function () { stop(); show(+f.dataset.frame); big.scrollIntoView({block: "center"}); }; });
  show(+slider.value);
})();
