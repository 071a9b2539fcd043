import { emptyProfile, type Profile } from '#domain/growth/drafting/profile'

/** A software company: first person plural and singular mixed, quotes, an enumeration, numbers. */
export const softwareProfile: Profile = {
  ...emptyProfile,
  goal: 'Get B2B founders to book a demo of Loopline, our onboarding tool',
  audience: 'B2B SaaS founders who lose users in week one',
  voice: 'Plain, dry. Short sentences.',
  writing_dna: {
    voice_rules: ['No exclamation marks', 'No emoji', 'Never say "game-changer" or "unlock"'],
    stories: [
      'In March 2023 we lost our biggest customer, 14% of revenue, in one email. They had opened a ticket about onboarding eleven times. Nobody had connected the tickets. Now every repeated ticket lands on my desk on Friday.',
      'We used to run a 14-step product tour. Only 9% of new users finished it. We deleted the tour and put one question on the first screen: what are you trying to do today? Activation went from 31% to 46% in six weeks.',
      'I spent four months building an AI assistant nobody asked for. Three customers turned it on. One of them turned it on by accident. The lesson: sell the thing on a call before you build it.',
      'A prospect told us, "I don\'t want software, I want my Mondays back." We put that sentence on the homepage. Demo requests doubled the same month.',
      'Our first sales hire left after seven weeks. I had given her a script and no customers to talk to. We changed three things: two weeks of support shifts, a call with a churned customer, and one deal done together. The next hire closed in month one.',
    ],
    proof: [
      '212 teams run their onboarding on Loopline',
      'Median time to first value fell from 9 days to 2',
      'Bootstrapped to $1.1M ARR with six people',
      '"We stopped guessing where users get stuck." — Dana, Head of CS at Parcelwise',
      'SOC 2 Type II since January',
    ],
    patterns: [
      'Start with a number, then what it cost',
      'Contrast: what people think vs what happened',
      'I used to X. Now I Y.',
      'Open on the mistake, end with a question',
      'One customer quote, then what we changed',
    ],
    use: ['time to first value', 'Onboarding is a promise, not a tour.'],
    avoid: ['synergy', 'leverage', 'crushing it', 'hack'],
  },
}

/** A craft studio: scenes without numbers, advice, a story that is only a heading. */
export const studioProfile: Profile = {
  ...emptyProfile,
  goal: 'Fill evening wheel-throwing classes in Bristol',
  audience: 'Adults who think they have no talent',
  voice: 'warm, unhurried, first person',
  writing_dna: {
    voice_rules: ['no hype', 'no hashtags'],
    stories: [
      'My first kiln load cracked from top to bottom. Forty mugs, three weeks of evenings. I had dried them next to a radiator because I was in a hurry. I still keep one of those mugs on the shelf by the door.',
      'A retired bus driver came to a Tuesday class last autumn. He said he had never made anything in his life. By week six his bowls were thinner than mine. He gave the first one to his daughter, and it leaks, and she uses it anyway.',
      'How I went from accountant to potter with one borrowed wheel',
      'Most beginners blame their hands. It is nearly always the centring. Put your elbows on your knees and wait until the clay stops arguing.',
      'Last winter the boiler broke and the studio was 8 degrees. Eleven people came anyway, in coats. We made only small things, because the clay was too cold to move.',
    ],
    proof: [
      '12 years teaching in the same room',
      '640 people have made their first bowl here',
      'Class size is six, and it stays six',
      'every piece is fired twice and glazed with food-safe glazes',
      'Two thirds of our students come back for a second course',
    ],
    patterns: [
      'Start in the middle of a scene',
      'one tip from class',
      'question to readers about making things',
    ],
    use: ['Clay remembers.', 'come and get your hands dirty'],
    avoid: ['cheap', 'influencer', 'must-have'],
  },
}

/** An engineer: lower-case names, clock times, rules, and a ban on closing questions. */
export const engineerProfile: Profile = {
  ...emptyProfile,
  goal: 'Be known for boring, reliable pipelines; get consulting work',
  audience: 'Data engineers on small teams',
  voice: 'dry, precise',
  writing_dna: {
    voice_rules: ['short sentences', 'no em dashes', 'no questions at the end'],
    stories: [
      'Our nightly job failed silently for 11 days. The dashboard kept showing the last good number. Finance closed the month on it. Since then every table has a freshness check, and the check pages a human.',
      'We moved 4,200 lines of SQL from stored procedures to dbt in one quarter. The hard part was not the SQL. It was finding out which 60 reports anyone still opened. We deleted 41 of them.',
      'A team asked me for a streaming platform. Their users looked at the data once a day, at 9 am. We gave them a cron job and a Postgres view. It has run for two years.',
      'I once backfilled three years of events with the wrong time zone. Every day was shifted by one hour. Nobody noticed for a month, because nobody looked at hours. Store UTC, and test the boundary days.',
      'dbt tests caught a duplicated customer table at 2 a.m. and nobody woke up. That is what a good alert looks like: it waits until morning if it can.',
    ],
    proof: [
      'cut warehouse spend from $18k to $7k a month',
      '300+ tables with freshness checks',
      'On-call pages went from 22 a week to 3',
      'maintainer of an open-source backfill tool with 1.4k stars',
      '9 years in data, 4 of them on call',
    ],
    patterns: [
      'Start with the incident',
      'numbers first',
      'Unpopular opinion, then the evidence',
      'Rule, then the story behind it',
      'before/after',
    ],
    use: ['boring is a feature'],
    avoid: ['big data', 'AI-powered', 'real-time'],
  },
}
