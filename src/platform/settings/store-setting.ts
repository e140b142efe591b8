/** The key of the setting that names a store which several machines share. */
export const STORE_SETTING = "core.store";
