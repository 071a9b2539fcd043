/**
 * All of the composer's own words that can appear in a post. Each line is true of any story in any
 * trade: it points at the person's sentences or asks the reader something, and never says what
 * happened, how often, or to whom. `{topic}` and `{audience}` are the person's own phrases.
 */
export const glue = {
  /** Between the outcome and the beginning of a story. */
  'back-to-start': [
    'How it started:',
    'Where it began:',
    'The beginning looked different:',
    'Rewind to the start:',
    'The backstory:',
  ],
  /** Before a situation whose outcome is withheld. */
  'ask-decision': [
    'What would you have done here?',
    'Your call. What do you do next?',
    'You are in this spot. What now?',
    'Quick one: what would you do here?',
  ],
  /** After a situation whose outcome is withheld. */
  'ask-after': [
    'What would you have done?',
    'What would you do next?',
    'What is your next move?',
    'What happens next?',
  ],
  'lesson-lead': ['The lesson first:', 'The takeaway, up front:', 'Lesson before story:'],
  'lesson-source': ['Where it comes from:', 'The story behind it:', 'How that lesson arrived:'],
  'rule-source': ['Why:', 'The reason:', 'Why this rule:', 'Why it is a rule:'],
  'disagree-lead': [
    'You are welcome to disagree:',
    'An opinion worth arguing with:',
    'Disagree with this one:',
    'Argue with this:',
  ],
  'audience-story': [
    '{audience}, a short story:',
    '{audience}, this one is for you:',
    '{audience}, a story for you:',
  ],
  'audience-advice': [
    '{audience}, take this one with you:',
    '{audience}, one thing to keep:',
    'For the notebook, {audience-low}:',
  ],
  'topic-story': [
    '{topic}, in one story:',
    'A story about {topic-low}:',
    'On {topic-low}, a true story:',
  ],
  'topic-point': ['On {topic-low}:', '{topic}, in brief:', 'A note on {topic-low}:'],
  'list-numbers': [
    'In numbers:',
    'Numbers, not adjectives:',
    'The numbers, plainly:',
    'Some numbers, no commentary:',
  ],
  'list-plain': [
    'For the record:',
    'Evidence, not adjectives:',
    'The receipts:',
    'Facts first:',
    'In plain facts:',
  ],
  'pair-lead': [
    'Two things, side by side:',
    'Two true things:',
    'Put these two next to each other:',
    'Read these together:',
  ],
  'checklist-lead': [
    'A short checklist:',
    'Worth writing on the wall:',
    'Pin this somewhere:',
    'Rules to borrow:',
  ],
  'short-lead': ['The short version:', 'In short:', 'The whole story, shortened:'],
  context: ['Some context:', 'The longer version:', 'A bit of background:'],
  'ask-me': ['Ask me about', 'Next time we talk, ask me about', 'Some day, ask me about'],
  'ask-us': ['Ask us about', 'Next time we talk, ask us about', 'Some day, ask us about'],
  'ask-any': ['Ask about', 'Always worth asking about'],
  'close-story': [
    'Does this sound familiar?',
    'Has something like this happened to you?',
    'How would you have handled it?',
    'What is your version of this?',
  ],
  'close-lesson': [
    'What would you add?',
    'Where does this break down for you?',
    'Does it hold up for you?',
    'Which part would you argue with?',
  ],
  'close-stance': [
    'Where does this fall apart?',
    'Agree, or not?',
    'What is the counter-argument?',
    'Where is this wrong?',
  ],
  'close-list': ['What would you add?', 'What is missing here?', 'Which one would you start with?'],
  'close-proof': [
    'Which of these would you ask about first?',
    'Which one would you like to hear more about?',
  ],
  'topic-question': [
    'What about {topic-low} took you longest to learn?',
    'What do you wish you had known sooner about {topic-low}?',
    'If you could change one thing about {topic-low}, what would it be?',
    '{topic}: what is the best advice you ever got?',
    '{topic}: what would you tell someone who starts today?',
    'What is the question about {topic-low} that nobody answers well?',
    'Which part of {topic-low} do you still find hard?',
    '{topic}: what did you change your mind about?',
  ],
  'article-audience': ['For {audience-low}.', 'Written for {audience-low}.'],
  'article-proof': ['For the record:', 'In plain facts:', 'The receipts:'],
  'article-stories': ['What happened', 'The stories behind it', 'How it went'],
  'article-rest': ['And beside that', 'Beyond that'],
  'topic-audience': [
    'A question for {audience-low}:',
    '{audience}, a question for you:',
    '{audience}, one question:',
  ],
} as const satisfies Record<string, readonly string[]>

export type GlueSlot = keyof typeof glue

/** The composer's own lines as they stand in posts, with their placeholders. */
export const fixedLines: readonly string[] = Object.values(glue).flat()

const PLURAL_LEAD =
  /^(?:People|Founders|Teams|Parents|Students|Beginners|Engineers|Developers|Designers|Owners|Managers|Leaders|Adults|Makers|Writers|Readers|Teachers|Heads|Small|First-time|Early|Early-stage|Senior|Junior|Independent|Local|Curious|Busy|New|Solo|Operations|Data|Product|Software|Marketing|Sales|Home|Hobby|Freelance|Indie|Creative)\b/

const small = (phrase: string): string => phrase.charAt(0).toLowerCase() + phrase.slice(1)

/** Inside a sentence an ordinary first word loses its capital; a name or an acronym keeps it. */
const audienceInside = (audience: string): string =>
  PLURAL_LEAD.test(audience) ? small(audience) : audience

const ORDINARY_LEAD = /^\p{Lu}\p{Ll}*(?:ing|tion|ment|s|ity|ness|ance|ence)$/u

const topicInside = (topic: string): string => {
  const [first = '', ...others] = topic.split(' ')
  return ORDINARY_LEAD.test(first) && !others.some((word) => /^\p{Lu}/u.test(word))
    ? small(topic)
    : topic
}

export interface Phrases {
  topic: string | undefined
  audience: string | undefined
}

/** Fills the person's phrases into a line; undefined if it needs one that is missing. */
export const fillPhrases = (line: string, { topic, audience }: Phrases): string | undefined => {
  if (line.includes('{topic') && topic === undefined) return undefined
  if (line.includes('{audience') && audience === undefined) return undefined
  return line
    .replace('{topic}', () => (topic ?? '').charAt(0).toUpperCase() + (topic ?? '').slice(1))
    .replace('{topic-low}', () => topicInside(topic ?? ''))
    .replace('{audience}', () => audience ?? '')
    .replace('{audience-low}', () => audienceInside(audience ?? ''))
}
