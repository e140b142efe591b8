/** Whether new plans can be made of an action. */
export const ACTION_STATES = ["available", "archived"] as const;
export type ActionState = (typeof ACTION_STATES)[number];
