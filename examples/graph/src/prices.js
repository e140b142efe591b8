// The tax is 19 percent.
export const price = (net) => net * 1.19;
