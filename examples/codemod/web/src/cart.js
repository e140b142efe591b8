export function add(cart, item) {
  log.info("added " + item);
  return [...cart, item];
}
