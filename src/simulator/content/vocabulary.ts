/** The script of a language, and some of its words. */
export interface Language {
  readonly code: string;
  readonly description: string;
  readonly direction: 'ltr' | 'rtl';
  /** Separator of words; empty where the script has no spaces. */
  readonly delimiter: string;
  readonly comma: string;
  readonly stop: string;
  readonly words: readonly string[];
}

function language(code: string, description: string, words: string, rest: Partial<Language> = {}): Language {
  return {
    code,
    description,
    direction: 'ltr',
    delimiter: ' ',
    comma: ',',
    stop: '.',
    ...rest,
    words: words.split(' '),
  };
}

/** One of each kind of script: plain, with umlauts, without spaces, from right to left. */
const LANGUAGES: readonly Language[] = [
  language(
    'en',
    'English',
    'welcome everyone we would like to talk about the results of last quarter before lunch and then look at what customers said when they called us about delivery times because it’s important that nobody waits longer than needed',
  ),
  language(
    'de',
    'German',
    'guten Morgen wir möchten heute über die Ergebnisse des letzten Quartals sprechen und danach prüfen was unsere Kunden zu den Lieferzeiten gesagt haben weil niemand länger als nötig warten soll größer Straße',
  ),
  language(
    'ja',
    'Japanese',
    '皆さん 今日 は 前回 の 結果 について 話し ます お客様 から 届い た 意見 も 確認 し ましょう 配送 時間 が 大切 です',
    {
      delimiter: '',
      comma: '、',
      stop: '。',
    },
  ),
  language(
    'ar',
    'Arabic',
    'مرحبا بكم نريد أن نتحدث اليوم عن نتائج الربع الأخير قبل الغداء ثم نسمع ما قاله العملاء عن مواعيد التسليم لأن ذلك مهم جدا',
    { direction: 'rtl', comma: '،' },
  ),
];

/** Supported language codes, in a fixed order. */
export const LANGUAGE_CODES: readonly string[] = LANGUAGES.map(({ code }) => code);

/** The language of a code; English for an unknown code. */
export function findLanguage(code: string): Language {
  const [english] = LANGUAGES;
  const found = LANGUAGES.find((candidate) => candidate.code === code) ?? english;
  if (!found) throw new Error('No languages are defined');
  return { ...found, code };
}
