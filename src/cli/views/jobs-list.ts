import { age, count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell } from "../terminal/view.ts";

export const show: Show<"jobs.list"> = ({ jobs, workers }) => {
  const now = Date.now();
  return {
    view: [
      {
        kind: "table",
        title: "Jobs",
        columns: [{ keep: "Plan" }, "Request", "Project", { keep: "State" }, "Tries", "Age", "Why"],
        rows: jobs.map((job): Cell[] => [
          job.planId,
          job.request,
          job.project ?? "-",
          job.state === "dead" || job.state === "failed" ? toned(job.state, "bad") : job.state,
          String(job.attempts),
          age(now - Date.parse(job.queuedAt)),
          job.error ?? "",
        ]),
        empty: "No jobs.",
      },
    ],
    messages: info(
      workers === 0 ? "No process works on the queue." : `${count(workers, "plan")} can be carried out at once.`,
    ),
  };
};
