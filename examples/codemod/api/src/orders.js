export function place(order) {
  log.info("placed " + order.id);
  return { ...order, state: "placed" };
}

export function cancel(order) {
  if (order.state === "sent") log.info("too late for " + order.id);
  return { ...order, state: "canceled" };
}
