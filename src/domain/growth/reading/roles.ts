import { wordsOf } from './words.ts'

/** A sentence's function in a story, judged by its form. */
export type SentenceRole =
  | 'number'
  | 'failure'
  | 'lesson'
  | 'stance'
  | 'before'
  | 'after'
  | 'quote'
  | 'time'
  | 'rule'
  | 'turn'

const RULE_VERBS =
  "never|always|stop|start|ask|charge|write|ship|keep|build|measure|test|pick|say|tell|give|show|cut|own|log|treat|choose|hire|price|talk|listen|learn|read|call|check|send|make|put|let|name|wait|watch|plan|practice|practise|assume|design|delete|document|automate|alert|monitor|run|do|don['’]t|do not|be|trust|throw|center|centre|glaze|wedge|dry|buy|sell|pay|track|review|begin|finish|look|leave|remember|version|store"

const patterns: Readonly<Record<SentenceRole, RegExp>> = {
  // Years, clock times and names such as SOC 2 do not count as numbers.
  number:
    /[$€£]\s?\d|\d\s?%|\b(?!(?:19|20)\d\d\b)(?!\d{1,2}(?::\d\d)?\s?[ap]\.?m\b)\d[\d.,]*(?:[kKmMx]\b|\+)?(?:[- ]\p{Ll}|\s*$|[.,;])/u,
  failure:
    /\b(?:lost|lose|losing|fail(?:ed|ure|s)?|broke|broken|wrong|mistakes?|missed|crack(?:ed)?|shattered|quit|cancell?ed|churn(?:ed)?|crash(?:ed)?|refund\w*|embarrass\w*|regret\w*|nobody|no one|exploded|outage|worst|rejected|wasted|burn(?:t|ed) out|ruined|collapsed|complain\w*|begging|ignored|duplicat\w*|left after|only \d+|silently|too late)\b/i,
  lesson:
    /\b(?:lessons?|learn(?:ed|t)|taught|reali[sz]ed|turns? out|turned out|takeaway|what (?:really )?matters|the point is)\b/i,
  stance:
    /\b(?:most (?:people|teams|companies|founders|beginners|students|engineers|customers|startups|studios|dashboards|pipelines)|everyone|overrated|underrated|myth|rather than|instead of|you don['’]t need|(?:is|are)(?: not|n['’]t) (?:a|an|the|about|because)|not because|matters more|beats?|better than|worse than)\b/i,
  before: /\b(?:used to|before that|at first|originally|back then|in the beginning)\b/i,
  after: /^(?:today|these days|nowadays)\b|\b(?:now|since then|from then on|ever since)\b/i,
  quote: /[“"][^”"]{8,}[”"]/,
  time: /^(?:(?:in|last|back in|early in|by|on|one|two|three|four|five|six|seven|ten|a|an|\d+)\b.{0,24}?\b(?:\d{4}|ago|years?|months?|weeks?|spring|summer|autumn|winter|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|morning|night|day)\b)/i,
  turn: /^(?:so |then |now )?(?:we|i) (?:changed|put|deleted|moved|gave|fixed|switched|rebuilt|started|stopped|cut|built|added|replaced|decided|asked|called|made|wrote|moved|hired|rewrote|split|removed|began|took)\b/i,
  rule: new RegExp(
    `^(?:${RULE_VERBS})\\b(?!\\s+(?:is|are|was|were|has|had|took|takes|went|came|beats|comes|\\w+ed)\\b)(?!.*\\b(?:I|we)\\b.*\\b(?:was|were|did|had)\\b)(?!.*\\?$)`,
    'i',
  ),
}

/**
 * The narrative past: `Cut churn by 18 %` and `Read 40 books` report something; they are not
 * advice.
 */
const REPORTED = /^(?:cut|put|read|let|ran|built|run)\b.*(?:\d|\b(?:for|since|by|from)\b)/i

/** All roles that a sentence can play. */
export const sentenceRoles = (sentence: string): Set<SentenceRole> => {
  const bare = sentence.replace(/^["“'‘(]+/, '')
  const roles = new Set<SentenceRole>()
  for (const [role, pattern] of Object.entries(patterns) as [SentenceRole, RegExp][])
    if (pattern.test(role === 'rule' || role === 'time' ? bare : sentence)) roles.add(role)
  if (REPORTED.test(bare) || sentence.startsWith('"') || sentence.startsWith('“'))
    roles.delete('rule')
  if (roles.has('time') || roles.has('before')) roles.delete('stance')
  return roles
}

const LABEL =
  /^(?:the |my |our )?(?:lesson|takeaway|moral|rule)(?: learned| learnt| here)?:\s+(?=\S{2})/i

/** `The lesson: ask first` without its label; undefined if there is no label. */
export const stripLabel = (sentence: string): string | undefined =>
  LABEL.test(sentence) ? sentence.replace(LABEL, '') : undefined

const CONNECTIVE =
  /^(?:it|its|it['’]s|they|them|their|that|that['’]s|this|these|those|he|she|his|her|him|so|but|and|or|then|also|again|instead|still|yet|which|because|however|therefore|there|here|both|neither|either|same|another|others?|meanwhile|otherwise|eventually|finally|afterwards?|later|soon|suddenly|luckily|even|only|not one|none|some|all of|most of|half of|one of|each|every one|turns out|as a result|since then|ever since|until then|after that|before that|from then|within|by then|by the|the (?:fix|result|reason|lesson|problem|cause|answer|difference|change|catch|second|third|first|other|others|next|rest|last|same|culprit|reply|response|solution|outcome|irony|twist|new|old|point|trick|moral|real|only|whole|team|remaining))\b/i
const LATER = /^(?:[\w-]+ ){1,3}(?:later|after|afterwards)\b/i
const NEXT_STEP = /^(?:now|today)\b/i
const EARLY_PRONOUN =
  /^(?:\S+\s+){1,4}(?:it|its|them|they|their|him|his|he|she|her|that|this|those|these|one|ones|both|so)\b(?!\s+(?:is|was|takes?)\b)/i
const POINTS_BACK =
  /\b(?:the same \w+|the other|the former|the latter|by then|that (?:day|week|month|year|night|morning|time))\b/i
const SHORT = 5

/**
 * Whether a sentence depends on the one before it, so that it cannot open a post. In doubt, it
 * does.
 */
export const dependsOnBefore = (sentence: string): boolean => {
  const bare = sentence.replace(/^["“'‘(]+/, '')
  const count = wordsOf(bare).length
  if (count < SHORT) return true
  if (CONNECTIVE.test(bare) || LATER.test(bare)) return true
  if (/^nobody\b|^no one\b/i.test(bare) && count < 9) return true
  if (/^(?:"|“)/.test(sentence)) return true
  if (NEXT_STEP.test(bare) && /\b(?:it|them|they|that)\b/i.test(bare)) return true
  return (
    EARLY_PRONOUN.test(bare) ||
    POINTS_BACK.test(bare) ||
    /\b(?:it|them|they|that one|him|her|there)[.!]$/i.test(bare)
  )
}

const FINITE =
  /\b(?:am|is|are|was|were|be|been|has|have|had|do|does|did|can|could|will|would|should|must|may|might|[a-z]+n['’]t|[a-z]{3,}ed|went|got|made|took|came|saw|knew|gave|found|told|left|felt|put|brought|began|kept|held|wrote|stood|heard|let|meant|set|met|ran|paid|sat|spoke|lost|won|built|sent|fell|rose|grew|drew|broke|spent|cut|bought|sold|read|taught|caught|fought|thought|threw|flew|hit|cost|quit|shut|dropped|beats?|needs?|wants?|makes?|takes?|gets?|keeps?|runs?|costs?|means?|says?|pays?|remembers?|works?|wins?|starts?|ends?|comes?|goes|forgives?|teaches)\b/i
const HEADLINE =
  /^(?:the (?:time|day|night|week|moment|story)\b(?!.*,)|how\b(?!.*\?)|that time\b|why\b(?!.*\?)|when\b(?!.*[,?])|what (?:i|we|it|happened)\b(?!.*\b(?:is|was)\b))/i

/**
 * Whether a sentence is a heading such as `How we lost the account`: a fragment that announces the
 * story without telling it.
 */
export const isHeadline = (sentence: string): boolean => HEADLINE.test(sentence.trim())

/** Whether a sentence has a finite verb and is not a heading. */
export const looksComplete = (sentence: string): boolean =>
  !isHeadline(sentence) && FINITE.test(sentence)

const LONGEST_ENTRY = 8

/**
 * Splits `We changed three things: shorter forms, a live demo and one price` into head and entries;
 * undefined if it is no list.
 */
export const inlineListOf = (sentence: string): { head: string; entries: string[] } | undefined => {
  const [, head = '', tail = ''] =
    /^([^:]{8,90}):\s+([^:;?!"“”()]+)$/.exec(sentence.replace(/[.!]$/, '')) ?? []
  const entries = tail
    // In "a, b and c" the last entry is `c`. After "a, b, and c", a further "and" belongs to the
    // entry.
    .split(/,\s+(?:and|or)\s/.test(tail) ? /,\s+(?:(?:and|or)\s+)?/ : /,\s+|\s+and\s+(?=[^,]*$)/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  const tidy =
    entries.length >= 3 &&
    entries.length <= 7 &&
    entries.every((entry) => wordsOf(entry).length <= LONGEST_ENTRY)
  return tidy ? { head: `${head.trim()}:`, entries } : undefined
}

/** An invitation belongs at the end of a post, not at the start. */
export const INVITES =
  /^(?:come|join|book|try|sign|visit|see|dm|reply|follow|subscribe|grab|download|get|drop|say)\b/i
