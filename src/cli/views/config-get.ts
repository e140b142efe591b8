import type { Show } from "../terminal/show.ts";

export const show: Show<"config.get"> = ({ key, value, level, chain, description }, { verbose }) => ({
  view: [
    {
      kind: "fields",
      title: key,
      rows: [
        ["value", value ?? "(not set)"],
        ["from", level],
        ...(verbose ? chain.map((one) => [`  ${one.level}`, one.value] as const) : []),
        ["meaning", description],
      ],
    },
  ],
  messages: [],
});
