/** A page, or the part of one, that a script makes. */
export interface GeneratedPage {
  readonly file: string;
  /** The whole file as it should be. */
  readonly text: string;
}
