/** Openings that tell of an event. */
export const storyHooks = {
  'cold-open': {
    name: 'Cold open',
    explanation: 'Begins in the middle of events, without an introduction.',
    example: 'The phone rang while I was still under the sink.',
  },
  'number-first': {
    name: 'Number first',
    explanation: 'Puts a number in the first sentence, and makes the reader ask what it measures.',
    example: 'It took 43 emails to sell one chair.',
  },
  'time-stamp': {
    name: 'Time stamp',
    explanation: 'Says when it happened, so that the reader wonders what has changed since.',
    example: 'In the spring of 2021 we had two customers and one printer.',
  },
  admission: {
    name: 'Admission',
    explanation: 'Owns up to a mistake or a loss in the first sentence.',
    example: 'I sent the wrong contract to our largest client.',
  },
  'quote-open': {
    name: 'Quote',
    explanation: 'Lets somebody else speak first, in their own words.',
    example: '"You talk too much about yourselves," she said. She was right.',
  },
  'back-then': {
    name: 'Back then',
    explanation: 'Begins with how things used to be.',
    example: 'We used to answer every ticket on the day it came.',
  },
  'opinion-open': {
    name: 'Opinion before the story',
    explanation: 'Takes a side first, then tells the story behind it.',
    example: 'Most meetings are a symptom. Last winter we stopped having ours.',
  },
  'rule-open': {
    name: 'Rule before the story',
    explanation: 'Advice first, then the events that taught it.',
    example: 'Never price by the hour. Our first three jobs show why.',
  },
  'turning-point': {
    name: 'Turning point',
    explanation: 'Begins at the moment when something changed.',
    example: 'We deleted the form. Nobody missed it.',
  },
  excerpt: {
    name: 'Excerpt',
    explanation: 'A part of a longer story that stands on its own.',
    example: 'Halfway through the move, the van would not start.',
  },
  news: {
    name: 'News',
    explanation: 'Reports what is new, in order, as it was stated.',
    example: 'We open on Saturdays from June. The bakery next door does too.',
  },
  'news-line': {
    name: 'News in a line',
    explanation: 'What is new, in a single sentence.',
    example: 'The second workshop opens in May.',
  },
  'ending-first': {
    name: 'Ending first',
    explanation: 'The outcome first, then how it began.',
    example: 'She runs the shop today. How it started: one stall, in the rain.',
  },
  'number-ending': {
    name: 'Result first',
    explanation: 'The measured outcome first, then how it began.',
    example: 'Returns fell to 3%. Where it began: a box of broken cups.',
  },
  'your-call': {
    name: 'Your call',
    explanation:
      'Asks the reader to decide first, then describes the situation without its outcome.',
    example: 'What would you have done here? The order was late and the client was in the hall.',
  },
  'open-ending': {
    name: 'Open ending',
    explanation: 'Stops at the trouble and asks what to do next.',
    example: 'The server was down and the demo began in ten minutes. What would you do next?',
  },
  'then-now': {
    name: 'Then and now',
    explanation: 'Sets then against now, with nothing in between.',
    example: 'At first I wrote every reply myself. Now I write none before noon.',
  },
  'short-version': {
    name: 'Short version',
    explanation: 'Only the beginning and the end of a story.',
    example: 'In short: we said yes to everyone. Now we say no by default.',
  },
} as const
