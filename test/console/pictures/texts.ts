/** What the workspace of the pictures says: a firm that books trucks onto docks. */
import { emptyProfile, type Profile } from '#domain/growth/drafting/profile'

export const profile: Profile = {
  ...emptyProfile,
  goal: 'Have operations leads book a demo of Dockside, our dock scheduler',
  audience: 'Operations leads at logistics firms',
  voice: 'Plain and dry. Numbers before adjectives.',
  time_zone: 'Europe/Berlin',
  writing_dna: {
    ...emptyProfile.writing_dna,
    voice_rules: ['No exclamation marks', 'One idea a post'],
    stories: [
      'I stood at gate four for a whole night shift with a stopwatch. Drivers waited 47 minutes for a dock that had been free for 20. Nobody was slow. Nobody had told anybody.',
      'Nordfracht ran three warehouses on one spreadsheet. It had 41 tabs. When its author went on holiday, two of them were wrong by Wednesday.',
    ],
    proof: ['412 depots use our dock scheduler', 'Late deliveries fell by 31% at Nordfracht'],
    patterns: ['Start with a number, then what it cost', 'Open on the scene, end on the rule'],
    use: ['the first ten metres'],
    avoid: ['synergy', 'game-changer'],
  },
}

interface Written {
  body: string
  hook: string
  rationale: string
  stories?: string[]
}

export const batches: { focus: string; drafts: Written[] }[] = [
  {
    focus: 'late deliveries',
    drafts: [
      {
        body: 'Late deliveries rarely begin on the road.\n\nWe traced 300 of them back. 214 began in the first ten metres: a truck at the gate, and nobody who knew its dock.\n\nFix the gate first. It is the cheapest part of the whole route.',
        hook: 'claim',
        rationale:
          'Turns your proof about Nordfracht into one claim that can be checked. Posts that begin with a claim did better than those that ask, over the last 40.',
        stories: [profile.writing_dna.stories[0]!],
      },
      {
        body: 'Some numbers, no commentary:\n\n- 412 depots use our dock scheduler\n- 47 minutes: the wait at gate four before\n- 11 minutes: the wait since',
        hook: 'in-numbers',
        rationale: 'Lists two pieces of your proof. Chosen because it fits the focus.',
      },
      {
        body: 'A driver told me: “I am not late. I have been here since six. Your dock is late.”\n\nWe changed the report that week. It measures docks now.',
        hook: 'quote',
        rationale: 'Opens on a sentence that somebody said, as your best post of October did.',
      },
      {
        body: 'What do you wish you had known sooner about late deliveries?',
        hook: 'open-question',
        rationale: 'Asks your audience. One question a week is what your channel allows.',
      },
    ],
  },
  {
    focus: 'the night shift',
    drafts: [
      {
        body: 'I spent a night at gate four with a stopwatch.\n\nDrivers waited 47 minutes for docks that had been free for 20. Nobody was slow. Nobody had told anybody.\n\nMost of logistics is one sentence that was not said.',
        hook: 'scene',
        rationale: 'Uses a story of yours that no post has told yet.',
        stories: [profile.writing_dna.stories[0]!],
      },
      {
        body: 'Operations leads, a question from the night shift: who decides when two trucks want the same dock at 03:00, and how do you know?',
        hook: 'audience-question',
        rationale: 'Names the audience of your profile.',
      },
    ],
  },
]

export const byHand =
  'We are hiring a second person for support. You will spend your first two weeks on a forklift route, not in a ticket queue.'

export const article = {
  title: 'What 412 depots taught us about waiting',
  body: 'Waiting is the one cost in logistics that nobody invoices.\n\nWhen we began, we measured what everybody measures: kilometres, fuel, hours at the wheel. Then a driver handed us his own notes. He had written down every minute at a gate, for a year. It came to five weeks.\n\nSo we counted it at every depot that would let us. Three things held everywhere.\n\nFirst, the dock is seldom full. In 412 depots, docks stood empty for 38% of the hours in which trucks waited for them. The truck and the dock were a hundred metres apart, and a phone call.\n\nSecond, the longest waits are not at peak. They are just after it, when everybody believes that the worst is over and goes to eat.\n\nThird, telling drivers the truth shortens the queue. Where we showed the real wait at the motorway exit, one in six came later, by choice.\n\nNone of this needs new software. A whiteboard at the gate would do. But somebody has to be asked to keep it.',
}

export const approved = [
  'Nordfracht ran three warehouses on one spreadsheet with 41 tabs. Its author went on holiday.',
  'The cheapest sensor at a dock is the person who works there.',
  'Tuesday is the day on which most docks are booked twice. We do not know why yet.',
]

export const doubtful =
  'Docks stand empty for 38% of the hours in which trucks wait for them. Not a capacity problem. A telephone problem.'

export const onTimeline = [
  'Back from Rotterdam. Forty gates in two days, and one very good herring.',
  'The spreadsheet at Nordfracht had 41 tabs. We printed it once. Nobody laughed.',
]

export const refused = {
  body: 'Late deliveries fell by 31% at Nordfracht. Here is the whole method in one picture: https://dockside.example/method',
  reason:
    'Your post could not be sent. Links of this kind need a verified domain. Verify it, or post without the link.',
}

export const stranger = {
  post: 'Three trucks on the ramp and one free dock. Every single morning. How do others do this?',
  reply:
    'The ramp shows the symptom. Count how long docks stand free while trucks wait, for one week. In most depots it is more than a third of the time.',
}

export const asked = {
  content: 'Look at what was said about night shifts this week, and approve what fits best',
  item: 'If two people must agree before a truck moves, one of them is asleep at 03:00.\n\nGive the night shift one name. Write it on the gate.',
}

export const channel = {
  question: 'Hello, does the scheduler work with handhelds at the dock, or only on a desk?',
  answer:
    'It works on any handheld with a browser. Drivers see their dock and their time, and need no account.',
}

export const playbook = {
  name: 'Launch posts',
  before:
    'Say what is new in the first line. Mention the price. Link to the page with the method, never to the home page.',
  after:
    'Say in the first line what a depot can do now that it could not do before. Mention the price. Link to the page with the method, never to the home page.',
  rationale:
    'The four launch posts that began with what a depot can do had twice the replies of those that began with the name of the feature.',
}

export const tool = {
  server: 'Port traffic',
  name: 'port_traffic_queue_at_gate',
  description:
    'How many trucks wait at a gate of the port, and the median wait in minutes over the last hour.',
  before: 'How many trucks wait at a gate of the port.',
}
