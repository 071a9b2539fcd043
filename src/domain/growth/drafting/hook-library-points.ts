/** Openings that make a point, list, ask or name something. */
export const pointHooks = {
  'point-then-story': {
    name: 'Lesson, then its story',
    explanation: 'The lesson first, then the story behind it.',
    example: 'Price is a filter. Where it comes from: a client who paid least and wrote most.',
  },
  'rule-then-why': {
    name: 'Rule, then why',
    explanation: 'A rule in one sentence, then the reason for it.',
    example: 'Ask before you build. Why: four months of work that three people used.',
  },
  'lesson-first': {
    name: 'Lesson up front',
    explanation: 'Announces a lesson, states it, and tells how it was learned.',
    example: 'The lesson first: a plan that nobody reads is a diary.',
  },
  disagree: {
    name: 'Argue with this',
    explanation: 'Invites the reader to disagree before stating the opinion.',
    example: 'You are welcome to disagree: dashboards hide more than they show.',
  },
  'flat-claim': {
    name: 'Flat claim',
    explanation: 'States an opinion without hedging.',
    example: 'Most onboarding tours are for the team that built them.',
  },
  'this-not-that': {
    name: 'This, not that',
    explanation: 'Replaces a common explanation with another.',
    example: 'They left because nobody called back, not because of the price.',
  },
  'quote-alone': {
    name: 'Quote alone',
    explanation: 'Only what somebody said.',
    example: '"I finally sleep on Sundays." A customer, last week.',
  },
  'proof-alone': {
    name: 'Proof alone',
    explanation: 'One piece of evidence, without comment.',
    example: 'Certified since January.',
  },
  'one-line': {
    name: 'One line',
    explanation: 'A single sentence that carries the post.',
    example: 'The best brief we ever had was a photo of a napkin.',
  },
  'one-number': {
    name: 'One number',
    explanation: 'A single sentence that measures something.',
    example: 'Half of our customers came by one link.',
  },
  'one-rule': {
    name: 'One rule',
    explanation: 'A single piece of advice, ready to use.',
    example: 'Write the invoice before the proposal.',
  },
  'one-lesson': {
    name: 'One lesson',
    explanation: 'What was learned, in one sentence.',
    example: 'It turns out that silence on a call is a question.',
  },
  'one-opinion': {
    name: 'One opinion',
    explanation: 'Takes a side in one sentence.',
    example: 'A slow answer beats a wrong one.',
  },
  'proof-lead': {
    name: 'Proof, then the story',
    explanation: 'Evidence first, then the story that explains it.',
    example: 'Waiting times halved. Some context: we stopped taking bookings by phone.',
  },
  'own-phrase': {
    name: 'Your phrase',
    explanation: 'One of your phrases above a story that it sums up.',
    example: 'Slow is smooth. Last week a rushed order cost us two days.',
  },
  'ask-about': {
    name: 'Ask me about',
    explanation: 'Names a story without telling it, and invites people to ask.',
    example: 'Ask me about the day the oven caught fire.',
  },
  'own-question': {
    name: 'Your question',
    explanation: 'Opens with a question you have asked yourself or others.',
    example: 'Why does every form ask for a fax number?',
  },
  'in-numbers': {
    name: 'In numbers',
    explanation: 'A few numbers under one line.',
    example: 'In numbers: 12 classes, 90 bowls, 1 broken kiln.',
  },
  receipts: {
    name: 'Receipts',
    explanation: 'Pieces of proof as a list, without adjectives.',
    example: 'For the record: two awards, one recall, no excuses.',
  },
  'phrase-over-proof': {
    name: 'Your phrase over proof',
    explanation: 'One of your phrases above a few pieces of evidence.',
    example: 'Boring is a feature. No outage since March; one page of settings.',
  },
  'list-head': {
    name: 'Counted list',
    explanation: 'A sentence that lists things, set as a list under its opening.',
    example: 'We changed three things: the hours, the menu and the door.',
  },
  'checklist-open': {
    name: 'Checklist',
    explanation: 'Advice as a list to keep.',
    example: 'A short checklist: call first, write it down, send it today.',
  },
  'side-by-side': {
    name: 'Side by side',
    explanation: 'Two sentences side by side; the reader draws the connection.',
    example: 'The old shop had no sign. The new one has no phone.',
  },
  'two-numbers': {
    name: 'Two numbers',
    explanation: 'Two measured facts side by side.',
    example: 'We answer in 4 minutes. The fix takes 4 days.',
  },
  'product-line': {
    name: 'Product in a line',
    explanation: 'What the product is, in your words.',
    example: 'Plain Ledger: accounts for shops with one till.',
  },
  'story-then-product': {
    name: 'Story, then the product',
    explanation: 'A story that names the product, then what the product is.',
    example: 'The cash box was short again. So we built Plain Ledger.',
  },
  'proof-then-product': {
    name: 'Proof, then the product',
    explanation: 'Evidence that names the product, then what the product is.',
    example: '90 shops closed their books on Plain Ledger last month.',
  },
  'audience-call': {
    name: 'Audience by name',
    explanation: 'Says who the story is for.',
    example: 'Shop owners, this one is for you: the day our till broke.',
  },
  'audience-advice': {
    name: 'Advice by name',
    explanation: 'Says who the advice is for.',
    example: 'For the notebook, shop owners: count twice, order once.',
  },
  'topic-label': {
    name: 'Topic over a story',
    explanation: 'Names the topic, then tells a story about it.',
    example: 'Late deliveries, in one story: the truck came on a Sunday.',
  },
  'topic-point': {
    name: 'Topic over a point',
    explanation: 'Names the topic, then makes one point about it.',
    example: 'On late deliveries: call before they do.',
  },
  'open-question': {
    name: 'Open question',
    explanation: 'Asks about the topic and says nothing else.',
    example: 'What about hiring took you longest to learn?',
  },
  'audience-question': {
    name: 'Question by name',
    explanation: 'Asks the audience, by name, about the topic.',
    example: 'Shop owners, one question: what did you change your mind about?',
  },
  article: {
    name: 'Article',
    explanation: 'The title of a long text, as its first line. For articles only.',
    example: 'What late deliveries cost',
  },
} as const
