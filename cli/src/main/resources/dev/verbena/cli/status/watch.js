'use strict';
(function () {
  const KEPT = 120;
  const PULLED = ['messages pulled', 'messages', 'messages sent', 'datasets in'];
  const IN = ['bytes pulled', 'bytes', 'bytes in'];
  const OUT = ['bytes streamed', 'bytes sent', 'bytes out'];
  const QUEUES = ['buffers in ebq', 'buffers in pbq', 'buffers in fbq', 'buffers in t3', 'headers parked'];
  const LOST = ['clients lost', 'processes lost'];
  const FAILED = ['messages failed', 'messages corrupt', 'aborted'];
  const known = new Map();
  const pictures = new Map();
  const errors = new Map();
  let before = null;
  let count = 0;

  const at = id => document.getElementById(id);
  const text = (element, value) => { if (element.textContent !== value) element.textContent = value; };
  function make(name, parent, value) {
    const element = document.createElement(name);
    if (value !== undefined) element.textContent = value;
    parent.appendChild(element);
    return element;
  }
  function svg(parent, label) {
    const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    picture.setAttribute('width', 240);
    picture.setAttribute('height', 60);
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', label);
    parent.appendChild(picture);
    return picture;
  }

  /* The first of these counters that the process has; null if it has none. */
  function first(process, labels) {
    for (const label of labels) if (label in process.counters) return process.counters[label];
    return null;
  }
  const shown = value => value === null ? '-' : String(value);

  function rate(process, earlier, seconds, labels, unit) {
    const now = first(process, labels);
    if (now === null) return null;
    const then = earlier ? first(earlier, labels) || 0 : now;
    return Math.max(0, now - then) / seconds / unit;
  }

  /* What a row says, and what its history keeps. */
  function figures(process, earlier, seconds) {
    const messages = rate(process, earlier, seconds, PULLED, 1);
    const incoming = rate(process, earlier, seconds, IN, 1e6);
    const outgoing = rate(process, earlier, seconds, OUT, 1e6);
    const spilled = first(process, ['bytes spilled']);
    const one = value => value === null ? '-' : value.toFixed(1);
    const queues = QUEUES.filter(label => label in process.counters).map(label => process.counters[label]);
    return {
      messages: messages, incoming: incoming, outgoing: outgoing,
      lost: first(process, LOST), failed: first(process, FAILED), spilled: spilled,
      stalls: first(process, ['sends blocked', 'waits for memory']),
      errors: process.errors.reduce((sum, error) => sum + error.count, 0),
      cells: [String(process.pid), process.isAlive ? 'running' : 'killed', one(messages), one(incoming), one(outgoing),
        queues.length ? queues.join(' ') : '-', shown(first(process, ['sends blocked', 'waits for memory'])), shown(first(process, LOST)),
        spilled === null ? '-' : (spilled / 1e6).toFixed(1), shown(first(process, FAILED)),
        String(process.errors.reduce((sum, error) => sum + error.count, 0))]
    };
  }

  function newRow(process) {
    const row = make('tr', at('rows'));
    const head = make('th', row);
    head.scope = 'row';
    const button = make('button', head, process.role);
    button.type = 'button';
    const detail = make('tr', at('rows'));
    detail.className = 'detail';
    detail.hidden = true;
    detail.id = 'detail-' + (++count);
    const cell = make('td', detail);
    cell.colSpan = 12;
    button.setAttribute('aria-expanded', 'false');
    button.setAttribute('aria-controls', detail.id);
    button.setAttribute('aria-label', 'History and counters of ' + process.role + ', process ' + process.pid);
    const entry = { row: row, detail: detail, cell: cell, cells: [], history: [], button: button };
    for (let i = 0; i < 11; i++) entry.cells.push(make('td', row));
    button.addEventListener('click', () => {
      detail.hidden = !detail.hidden;
      button.setAttribute('aria-expanded', String(!detail.hidden));
      if (!detail.hidden) fillDetail(entry);
    });
    return entry;
  }

  function line(values) {
    const top = Math.max(1e-9, ...values);
    return values.map((value, i) => (i ? 'L' : 'M') + (i * 240 / Math.max(1, KEPT - 1)).toFixed(1) + ' '
      + (58 - 56 * value / top).toFixed(1)).join('');
  }

  function chart(parent, name, unit, values) {
    const figure = make('figure', parent);
    const top = values.length ? Math.max(...values) : 0;
    const last = values.length ? values[values.length - 1] : 0;
    const picture = svg(figure, name + ' of the last ' + values.length + ' samples: now ' + last.toFixed(1) + ', largest ' + top.toFixed(1) + ' ' + unit);
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', line(values));
    picture.appendChild(path);
    make('figcaption', figure, name + ', at most ' + top.toFixed(1) + ' ' + unit);
  }

  /* How often which rate: 12 bins from 0 to the largest. */
  function histogram(parent, name, unit, values) {
    const bins = new Array(12).fill(0);
    const top = values.length ? Math.max(...values) : 0;
    for (const value of values) bins[top ? Math.min(11, Math.floor(value / top * 12)) : 0]++;
    const most = Math.max(1, ...bins);
    const sorted = [...values].sort((a, b) => a - b);
    const median = sorted.length ? sorted[Math.floor(sorted.length / 2)] : 0;
    const figure = make('figure', parent);
    const picture = svg(figure, 'Histogram, ' + name + ': median ' + median.toFixed(1) + ', largest ' + top.toFixed(1) + ' ' + unit);
    bins.forEach((bin, i) => {
      const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
      bar.setAttribute('x', i * 20 + 1);
      bar.setAttribute('width', 18);
      bar.setAttribute('y', 59 - 57 * bin / most);
      bar.setAttribute('height', 57 * bin / most);
      picture.appendChild(bar);
    });
    make('figcaption', figure, 'how often: 0 to ' + top.toFixed(1) + ' ' + unit + ', median ' + median.toFixed(1));
  }

  function fillDetail(entry) {
    const cell = entry.cell;
    cell.textContent = '';
    for (const [field, name, unit] of [['messages', 'Messages', '1/s'], ['incoming', 'In', 'MB/s'], ['outgoing', 'Out', 'MB/s']]) {
      const values = entry.history.map(one => one[field]).filter(value => value !== null);
      if (!values.length) continue;
      chart(cell, name, unit, values);
      histogram(cell, name, unit, values);
    }
    const list = make('ul', cell);
    list.setAttribute('aria-label', 'All counters');
    for (const label of Object.keys(entry.process.counters)) {
      const item = make('li', list);
      make('span', item, label);
      make('span', item, entry.process.counters[label].toLocaleString('en'));
    }
  }

  function sums(all, processes) {
    const total = field => all.reduce((sum, one) => sum + (one[field] || 0), 0);
    const most = field => all.reduce((top, one) => Math.max(top, one[field] || 0), 0);
    const running = processes.filter(process => process.isAlive).length;
    const values = [['Running', String(running)], ['Killed', String(processes.length - running)],
      ['Messages/s, busiest', most('messages').toFixed(1)], ['MB/s in, all', total('incoming').toFixed(1)], ['Stalls', String(total('stalls'))],
      ['Lost', String(total('lost'))], ['Spilled MB', (total('spilled') / 1e6).toFixed(1)], ['Failed', String(total('failed'))], ['Errors', String(total('errors'))]];
    const list = at('sums');
    values.forEach(([name, value], i) => {
      const box = list.children[i] || make('div', list);
      if (!box.children.length) { make('dt', box, name); make('dd', box); }
      text(box.children[1], value);
    });
  }

  /* The newest kind first; an error keeps its place, and stays open, when it comes again. */
  function errorLog(processes, unreadable) {
    const all = unreadable.map(line => ({ key: line, firstMs: Number.MAX_SAFE_INTEGER, title: 'cannot be read: ' + line, text: line }));
    for (const process of processes) for (const error of process.errors) all.push({
      key: process.key + ' ' + error.firstMs + ' ' + error.text, firstMs: error.firstMs, text: error.text,
      title: process.role + ' ' + process.pid + ': ' + error.text.split('\n')[0] + ' (' + error.count + ' times, last '
        + new Date(error.lastMs).toLocaleTimeString() + ')'
    });
    all.sort((a, b) => b.firstMs - a.firstMs);
    const list = at('errors');
    const here = new Set(all.map(one => one.key));
    for (const [key, item] of errors) if (!here.has(key)) { item.remove(); errors.delete(key); }
    at('no-errors').hidden = all.length > 0;
    all.forEach((one, i) => {
      let item = errors.get(one.key);
      if (!item) {
        errors.set(one.key, item = make('li', list));
        const details = make('details', item);
        make('summary', details);
        make('pre', details);
      }
      if (list.children[i] !== item) list.insertBefore(item, list.children[i]);
      text(item.querySelector('summary'), one.title);
      text(item.querySelector('pre'), one.text);
    });
  }

  /* One picture for each field of each process; it is loaded again when its bytes are others. */
  function fields(processes) {
    const here = new Set();
    for (const process of processes) for (const picture of process.pictures) {
      const key = process.key + ' ' + picture.field;
      here.add(key);
      let figure = pictures.get(key);
      if (!figure) {
        pictures.set(key, figure = make('figure', at('fields')));
        make('img', figure);
        make('figcaption', figure);
      }
      const image = figure.firstChild;
      if (image.dataset.id !== picture.id) {
        image.dataset.id = picture.id;
        image.width = picture.width;
        image.height = picture.height;
        image.alt = picture.field + ', step ' + picture.step + ', of ' + process.role + ', process ' + process.pid;
        image.src = 'pictures/' + picture.id;
      }
      text(figure.lastChild, picture.field + ', step ' + picture.step + ' (' + process.role + ' ' + process.pid
        + (process.isAlive ? ')' : ', killed)'));
    }
    for (const [key, figure] of pictures) {
      if (here.has(key)) continue;
      figure.remove();
      pictures.delete(key);
    }
    at('newest').hidden = !pictures.size;
  }

  function show(sample) {
    const seconds = before ? Math.max(1e-3, (sample.timeNs - before.timeNs) / 1e9) : sample.intervalS;
    const earlier = new Map((before ? before.processes : []).map(process => [process.key, process]));
    const all = [];
    const here = new Set();
    for (const process of sample.processes) {
      here.add(process.key);
      let entry = known.get(process.key);
      if (!entry) known.set(process.key, entry = newRow(process));
      const now = figures(process, earlier.get(process.key), seconds);
      all.push(now);
      entry.process = process;
      entry.history.push(now);
      if (entry.history.length > KEPT) entry.history.shift();
      entry.row.className = process.isAlive ? '' : 'dead';
      entry.cells.forEach((cell, i) => text(cell, now.cells[i]));
      entry.cells[1].className = process.isAlive ? 'running' : 'bad';
      if (!entry.detail.hidden) fillDetail(entry);
    }
    for (const [key, entry] of known) {
      if (here.has(key)) continue;
      /* It ended in order and took its counters away. */
      if (entry.row.contains(document.activeElement)) at('processes').focus();
      entry.row.remove();
      entry.detail.remove();
      known.delete(key);
    }
    at('table').hidden = !sample.processes.length;
    at('none').hidden = sample.processes.length > 0;
    text(at('job'), sample.job ? 'job ' + sample.job : 'all jobs');
    sums(all, sample.processes);
    fields(sample.processes);
    errorLog(sample.processes, sample.unreadable);
    before = sample;
  }

  const source = new EventSource('events');
  source.onmessage = event => {
    show(JSON.parse(event.data));
    at('state').className = '';
    text(at('state'), 'Live');
  };
  source.onerror = () => {
    at('state').className = 'lost';
    /* A refusal ends it: the next verbena watch has another address, and each serves 16 pages. */
    text(at('state'), source.readyState === EventSource.CLOSED
      ? 'This page cannot be continued; what is shown is old. Open the address that verbena watch now prints.'
      : 'verbena watch does not answer; what is shown is old. Trying again.');
  };
}());
