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
    'fr',
    'French',
    'bonjour à tous nous voudrions parler des résultats du dernier trimestre avant le déjeuner puis écouter ce que les clients ont dit où la livraison était retardée parce que c’est très important',
  ),
  language(
    'es',
    'Spanish',
    'buenos días queremos hablar de los resultados del último trimestre antes del almuerzo y después escuchar lo que dijeron los clientes cuando la entrega llegó tarde porque el próximo año será mejor',
  ),
  language(
    'ru',
    'Russian',
    'доброе утро сегодня мы поговорим о результатах прошлого квартала а потом посмотрим что клиенты сказали о сроках доставки потому что никто не должен ждать дольше чем нужно',
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
    'cmn',
    'Mandarin',
    '大家 好 今天 我们 讨论 上 个 季度 的 结果 然后 看看 客户 对 送货 时间 的 意见 因为 这 非常 重要',
    {
      delimiter: '',
      comma: '，',
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
