/**
 * What the fake model writes when it drafts. It keeps every rule of the input, unless a change says
 * otherwise.
 */

/**
 * The part of the user message that the fake reads: for a batch, an article, or findings to be
 * worded.
 */
export interface ModelInput {
  count: number
  hooks: { name: string; how: string }[]
  preferred_hooks: string[]
  max_length: number
  profile: { stories: { id: string }[]; avoid: string[] }
  products: { name: string; one_liner: string; url: string | null }[]
  archived_products: string[]
  untrusted: { recent_posts: { body: string }[]; present_text?: string }
  topic: string
  outline: string[]
  least_words: number
  most_words: number
  sentences: string[]
}

/** Enough different posts for the largest batch; without numbers, so that they claim nothing. */
const SENTENCES = [
  'Write down what surprised you today.',
  'Small fixes add up faster than grand plans.',
  'Ask why twice, then listen.',
  'Nobody reads a manual at midnight.',
  'Good defaults are quiet kindness.',
  'Delete something before lunch.',
  'Every queue hides somebody waiting.',
  'Names outlive their reasons.',
  'Fridays reveal which habits stick.',
  'A clear no saves everyone trouble.',
  'Ship it while you still remember why.',
  'Feedback cools quickly; collect it warm.',
  'Maps get old, compasses less so.',
  'Slow answers cost trust.',
  'Repeat yourself until it sounds boring.',
  'Some meetings want to be letters.',
  'Begin with an empty page more often.',
  'Kind criticism needs a concrete example.',
  'Curiosity beats certainty in week one.',
  'Measure, then argue.',
  'Support inboxes are free research.',
  'Polish belongs last, honesty first.',
  'Trust grows by boring, kept promises.',
  'Silence is an answer too.',
]

/** Drafts that keep every rule of the input; products come first. */
export const validDrafts = ({
  count,
  max_length,
  hooks,
  profile,
  products,
  untrusted,
}: ModelInput) => {
  const taken = [
    ...untrusted.recent_posts.map(({ body }) => body),
    ...(untrusted.present_text ? [untrusted.present_text] : []),
  ]
  const offered = products.map(({ name, one_liner }) => `${name}: ${one_liner}.`)
  const allowed = [...offered, ...SENTENCES].filter(
    (text) =>
      text.length <= max_length &&
      !taken.includes(text) &&
      !profile.avoid.some((phrase) =>
        text.toLowerCase().includes(phrase.normalize('NFKC').toLowerCase()),
      ),
  )
  return allowed.slice(0, count).map((body, index) => ({
    body,
    format: 'one-liner',
    // No two open alike, and none opens like a recent post.
    hook: hooks[(taken.length + index) % hooks.length]!.name,
    rationale: 'A short thought that fits the voice.',
    stories: profile.stories.slice(0, 1).map(({ id }) => id),
    learnings: [],
  }))
}

/**
 * An article that keeps every rule of the input: each paragraph has different sentences, as many as
 * needed.
 */
export const validArticle = ({ topic, outline, least_words, profile, untrusted }: ModelInput) => {
  const allowed = (untrusted.present_text ? SENTENCES.toReversed() : SENTENCES).filter(
    (text) =>
      !profile.avoid.some((phrase) =>
        text.toLowerCase().includes(phrase.normalize('NFKC').toLowerCase()),
      ),
  )
  const paragraphs: string[] = []
  for (let words = 0, index = 0; words < least_words; index += 1) {
    // Another pair of sentences each time: no paragraph comes twice.
    const pair = [
      allowed[index % allowed.length],
      allowed[(index * 2 + 1 + Math.floor(index / allowed.length)) % allowed.length],
    ]
    const paragraph = pair.join(' ')
    paragraphs.push(paragraph)
    words += paragraph.split(' ').length
  }
  const headings = outline.length > 0 ? outline : ['']
  const share = Math.ceil(paragraphs.length / headings.length)
  return {
    title: `On ${topic}`,
    sections: headings.map((heading, index) => ({
      heading,
      text: paragraphs.slice(index * share, (index + 1) * share).join('\n\n'),
    })),
    rationale: 'A calm article that fits the voice.',
    stories: profile.stories.slice(0, 1).map(({ id }) => id),
    learnings: [],
  }
}

export interface Change {
  body?: string
  rationale?: string
}

const articleWith = (input: ModelInput, { body, ...change }: Change) => {
  const article = validArticle(input)
  return {
    ...article,
    ...(body === undefined
      ? {}
      : { sections: article.sections.map((one) => ({ ...one, text: body })) }),
    ...change,
  }
}

const replyWith = (change: Change) => ({
  body: SENTENCES[0],
  rationale: 'A short thought that fits the voice.',
  ...change,
})

/** An answer of the requested kind, by the name of its schema. */
export const answerOf = (name: string, input: ModelInput, change: Change) => {
  if (name === 'article') return articleWith(input, change)
  if (name === 'reply') return replyWith(change)
  if (name === 'wordings')
    return { sentences: input.sentences.map((sentence) => change.body ?? `As found: ${sentence}`) }
  return { drafts: validDrafts(input).map((draft) => ({ ...draft, ...change })) }
}
