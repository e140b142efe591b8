/**
 * Words that do not tell which code is meant: the small words of English, and those that occur in every request about
 * code.
 */
const SENTENCE = `a about above after again all also am an and any are as at be because been before being below between both but by can
  cannot could did do does doing done down during each either else etc ever every few for from further get gets getting give given
  goes going had has have having he her here him his how i if in instead into is it its itself just let like may me might more most
  must my need needs neither no nor not now of off on once one only onto or other our out over own per please rather really same
  shall she should since so some such than that the their them then there these they this those through to too under until up upon
  us very via want wants was we were what when where whether which while who whom whose why will with within without would yet you
  your`;
const REQUEST = `add adding change changes code codebase explain file files find fix fixing function functions implement implemented
  implementation implements line lines look make makes making method methods module modules place places repository show tell
  understand update use used uses using work working works write`;

const STOP_WORDS: ReadonlySet<string> = new Set(`${SENTENCE} ${REQUEST}`.split(/\s+/));

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
