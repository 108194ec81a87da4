/*
 * Every labelled step: a place before or after which a kill, a stop or a switch to another thread
 * can be seen from outside. Tests kill at each of them. A test compares this list with the code.
 */
#ifndef SOFTNIC_STEPS_H
#define SOFTNIC_STEPS_H

/* clang-format off */
#define SNIC_STEPS(X) \
    X("control.rung") \
    X("end.before") \
    X("end.remote") \
    X("end.local") \
    X("connect.claimed_peer") \
    X("connect.filled") \
    X("connect.requested") \
    X("connect.claimed_own") \
    X("connect.waiting") \
    X("withdraw.own") \
    X("withdraw.peer") \
    X("accept.peer") \
    X("accept.own") \
    X("reject.peer") \
    X("send.filled") \
    X("send.published") \
    X("send.rung") \
    X("send.header") \
    X("notify.placed") \
    X("release.returned") \
    X("release.consumed") \
    X("poll.taken") \
    X("open.filled") \
    X("open.named") \
    X("publish.before") \
    X("publish.after") \
    X("close.closing") \
    X("close.drained") \
    X("close.closed") \
    X("close.unlinked") \
    X("attach.claimed") \
    X("attach.filled") \
    X("attach.in_use") \
    X("attach.before") \
    X("detach.before") \
    X("detach.after") \
    X("foreign.before") \
    X("foreign.after") \
    X("bounce.asked") \
    X("bounce.claimed") \
    X("bounce.done") \
    X("bounce.served") \
    X("memory.filled") \
    X("memory.published") \
    X("memory.revoked") \
    X("memory.freed") \
    X("write.before") \
    X("write.after") \
    X("read.before") \
    X("read.after") \
    X("register.filled") \
    X("register.published") \
    X("deregister.wait") \
    X("deregister.before") \
    X("deregister.revoked") \
    X("deregister.drained") \
    X("deregister.freed") \
    X("pin.stored") \
    X("pin.checked") \
    X("put.copied") \
    X("put.unpinned") \
    X("get.copied") \
    X("get.unpinned") \
    X("atomic.done") \
    X("file.created") \
    X("file.reserved") \
    X("ring.counted") \
    X("ring.woken") \
    X("lock.acquired") \
    X("lock.taken_over") \
    X("lock.recovered") \
    X("lock.spin") \
    X("unlock.before") \
    X("unlock.after") \
    /* end */
/* clang-format on */

#endif
