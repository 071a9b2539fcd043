/** Questions that the desk answers, each with one read. */

interface Question {
  /** The words in lower case, without punctuation. Help shows the first ones. */
  words: readonly [string, ...string[]]
  tool: string
  args?: Record<string, unknown>
}

export const questions: readonly Question[] = [
  {
    words: [
      'what is waiting',
      'what is waiting for me',
      'what is waiting for approval',
      'what needs approval',
      'what needs my approval',
    ],
    tool: 'growth_list_queue',
    args: { status: 'drafted' },
  },
  {
    words: [
      'what next',
      'what is next',
      'what now',
      'what should i do',
      'what should i do next',
      'what should we do next',
    ],
    tool: 'growth_get_brief',
  },
  {
    words: [
      'what did we learn',
      'what have we learned',
      'what have we learnt',
      'what did you learn',
    ],
    tool: 'growth_list_learnings',
    args: { status: 'active' },
  },
  {
    words: [
      'what is scheduled',
      'what is planned',
      'what is approved',
      'what goes out next',
      'what will be posted',
    ],
    tool: 'growth_list_queue',
    // A scheduled item is an approved item with a time.
    args: { status: 'approved' },
  },
  {
    words: ['what was posted', 'what did we post', 'what have we posted', 'what has been posted'],
    tool: 'growth_list_queue',
    args: { status: 'posted' },
  },
  {
    words: ['what failed', 'what has failed', 'what went wrong'],
    tool: 'growth_list_queue',
    args: { status: 'publish_failed' },
  },
  {
    words: ['how are we doing', 'how is it going', 'where do we stand', 'give me an overview'],
    tool: 'growth_overview',
  },
  {
    words: [
      'which accounts are connected',
      'which account is connected',
      'what is connected',
      'where do we post',
    ],
    tool: 'growth_list_accounts',
  },
  {
    words: [
      'what do we offer',
      'what do we sell',
      'which products do we have',
      'what are our products',
    ],
    tool: 'growth_list_products',
  },
  {
    words: [
      'which rules are there',
      'which rules do we have',
      'what is automated',
      'what runs by itself',
    ],
    tool: 'growth_list_rules',
  },
  {
    words: ['who do we watch', 'who are our targets', 'whom do we watch'],
    tool: 'growth_list_targets',
  },
  {
    words: ['what are we testing', 'which experiments are running', 'what is being tested'],
    tool: 'growth_list_experiments',
  },
]

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[’']s\b/g, ' is')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The question that the text asks, word for word. */
export const questionIn = (text: string): Question | undefined => {
  const asked = plain(text)
  return questions.find(({ words }) => words.includes(asked))
}
