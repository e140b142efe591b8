/** Answers whether the database can be reached. */
export const database = {
  ping: async () => false,
};
