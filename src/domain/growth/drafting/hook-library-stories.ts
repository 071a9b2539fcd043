/** Openings that tell something that happened. */
export const storyHooks = {
  'cold-open': {
    name: 'Cold open',
    explanation: 'Begins in the middle of what happened, without any introduction.',
    example: 'The phone rang while I was still under the sink.',
  },
  'number-first': {
    name: 'Number first',
    explanation: 'A number stands in the first sentence and makes the reader ask what it measures.',
    example: 'It took 43 emails to sell one chair.',
  },
  'time-stamp': {
    name: 'Time stamp',
    explanation: 'Says when it was, so that the reader expects what changed since then.',
    example: 'In the spring of 2021 we had two customers and one printer.',
  },
  admission: {
    name: 'Admission',
    explanation: 'Owns up to a mistake or a loss in the first sentence.',
    example: 'I sent the wrong contract to our largest client.',
  },
  'quote-open': {
    name: 'Quote',
    explanation: 'Somebody else speaks first, in their own words.',
    example: '"You talk too much about yourselves," she said. She was right.',
  },
  'back-then': {
    name: 'Back then',
    explanation: 'Begins with how things used to be done.',
    example: 'We used to answer every ticket on the day it came.',
  },
  'opinion-open': {
    name: 'Opinion before the story',
    explanation: 'Takes a side in the first sentence and tells the story as its reason.',
    example: 'Most meetings are a symptom. Last winter we stopped having ours.',
  },
  'rule-open': {
    name: 'Rule before the story',
    explanation: 'A piece of advice first, then what happened that taught it.',
    example: 'Never price by the hour. Our first three jobs show why.',
  },
  'turning-point': {
    name: 'Turning point',
    explanation: 'Begins at the moment when somebody changed something.',
    example: 'We deleted the form. Nobody missed it.',
  },
  excerpt: {
    name: 'Excerpt',
    explanation: 'A part of a longer story that stands for itself.',
    example: 'Halfway through the move, the van would not start.',
  },
  news: {
    name: 'News',
    explanation: 'Tells what is new, in order, as it was stated.',
    example: 'We open on Saturdays from June. The bakery next door does too.',
  },
  'news-line': { name: 'News in a line', explanation: 'What is new in a single sentence.', example: 'The second workshop opens in May.' },
  'ending-first': {
    name: 'Ending first',
    explanation: 'The outcome first, then the way back to how it began.',
    example: 'She runs the shop today. How it started: one stall, in the rain.',
  },
  'number-ending': {
    name: 'Result first',
    explanation: 'The measured outcome first, then where it began.',
    example: 'Returns fell to 3%. Where it began: a box of broken cups.',
  },
  'your-call': {
    name: 'Your call',
    explanation: 'Asks the reader to decide first, then shows the situation without its outcome.',
    example: 'What would you have done here? The order was late and the client was in the hall.',
  },
  'open-ending': {
    name: 'Open ending',
    explanation: 'Stops at the trouble and asks for the next step.',
    example: 'The server was down and the demo began in ten minutes. What would you do next?',
  },
  'then-now': {
    name: 'Then and now',
    explanation: 'Sets what was against what is, with nothing in between.',
    example: 'At first I wrote every reply myself. Now I write none before noon.',
  },
  'short-version': {
    name: 'Short version',
    explanation: 'Keeps only the beginning and the end of a story.',
    example: 'In short: we said yes to everyone. Now we say no by default.',
  },
} as const
