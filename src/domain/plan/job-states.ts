/**
 * Where the job of a queued plan is. `waiting`: the plan waits for a person. `dead`: it could not be worked on, however
 * often it was tried. `failed`: the plan itself failed, and says why.
 */
export const JOB_STATES = ["queued", "active", "waiting", "done", "failed", "dead", "cancelled"] as const;
export type JobState = (typeof JOB_STATES)[number];
