export async function run(_: { dir: string; quick: boolean }): Promise<void> {}
