/** Verbs that distinguish a request or a promise from other sentences. */

const english = new Set(
  `add address adjust align analyse analyze announce approve archive arrange ask assign attach back book brief bring build buy call
  cancel change chase check choose clarify clean clear close collect comment compare complete confirm connect contact convert copy
  correct create cut decide define delete deliver deploy describe design discuss document download draft edit email enable escalate
  estimate evaluate export extend file fill finalise finalize find finish fix follow forward gather get give go hand help hire import
  improve inform install investigate invite invoice issue join keep launch let list look mail make measure meet merge migrate monitor
  move negotiate notify offer onboard order organise organize pay pick plan post prepare present print propose provide publish pull
  push put reach read rebook reconcile record redo refund register release remind remove rename renew repair replace reply report
  request research resend reserve reset resolve respond restart return review revise rewrite run save schedule sell send set share
  ship show sign sort speak start stop submit summarise summarize support switch take talk tell test track train transfer translate
  try turn update upgrade upload verify visit wait watch write`.split(/\s+/),
)

export const isEnglishVerb = (word: string): boolean => english.has(word.toLowerCase())

const NOT_A_DEED = new Set(
  `sein werden haben können müssen sollen dürfen wollen mögen bleiben gehören bestehen gegen neben zwischen oben unten hinten innen außen
  wegen trotzdem selten eben morgen zusammen dagegen deren ihnen denen allen vielen beiden diesen jenen keinen einen meinen seinen ihren
  unseren euren anderen neuen alten guten ersten zweiten dritten nächsten letzten`.split(/\s+/),
)

/** Recognised by form: German marks the infinitive, which comes last. */
export const isInfinitive = (word: string): boolean =>
  /^[a-zäöüß]{2,}(?:en|ern|eln)$/.test(word) && !NOT_A_DEED.has(word)

/** As in "wird aufgeschrieben", where nobody is told to do it. */
export const isParticiple = (word: string): boolean =>
  /^(?:[a-zäöü]{2,4})?ge[a-zäöüß]+(?:en|t)$/.test(word)

const firstPerson = new Set(
  `schicke sende prüfe schreibe mache rufe melde bereite erstelle kläre frage buche bestelle plane organisiere aktualisiere ändere
  übernehme kümmere besorge erledige informiere teste korrigiere reiche lade stelle`.split(/\s+/),
)

export const isPromise = (word: string): boolean => firstPerson.has(word.toLowerCase())
