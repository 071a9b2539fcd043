/** Mistakes in the rules of whole jobs: whether they get anywhere, and their families. */
import { type Mutant, mutantsOf } from '../mutants/mutant.ts'
import { at, loop } from './mutants-loop.ts'

const rounds = at('rounds')

const ofRounds: Mutant[] = [
  ...mutantsOf(loop, [
    [
      'a job in circles need not conclude',
      'last: left === 1 || idle >= MOST_IDLE_ROUNDS',
      'last: left === 1',
    ],
    ['a job in circles goes on', 'idle > MOST_IDLE_ROUNDS || hasConcluded', 'idle < 0'],
    [
      'it may conclude again and again',
      'idle > MOST_IDLE_ROUNDS || hasConcluded',
      'idle > MOST_IDLE_ROUNDS',
    ],
  ]),
  ...mutantsOf(rounds, [
    [
      'one call that is the same makes a round idle',
      `const news = round.filter($isNew)
idle = news.length > 0 ? 0 : idle + 1`,
      `const news = round.filter($isNew)
idle = news.length === round.length ? 0 : idle + 1`,
    ],
    [
      'one idle round after the other is forgotten',
      'news.length > 0 ? 0 : idle + 1',
      'news.length > 0 ? 0 : 1',
    ],
    ['a new call is nothing new', 'if (!calls.has(callOf(head))) return true', ''],
    [
      'a new result is nothing new',
      "head.state === 'done' && !results.has($result)",
      "head.state === 'failed' && !results.has($result)",
    ],
    [
      'a refusal is something new',
      "head.state === 'done' && !results.has($result)",
      '!results.has($result)',
    ],
    [
      'what a person decides is nothing new',
      "head.state === 'rejected' || head.state === 'unknown'",
      "head.state === 'unknown'",
    ],
    [
      'a doubt is nothing new',
      "head.state === 'rejected' || head.state === 'unknown'",
      "head.state === 'rejected'",
    ],
    [
      'arguments that cannot be read are something new',
      'if (head.args_hash === null) return false',
      '',
    ],
  ]),
]

const delegation = at('delegation')

const ofFamilies: Mutant[] = [
  ...mutantsOf(loop, [
    [
      'a parent looks at its child',
      "step.awaits_kind === 'child' ? waiting(open, now) : { kind: 'look', step }",
      "({ kind: 'look', step })",
    ],
    [
      'a parent waits for ever',
      "patienceOf(step, now) <= now ? { kind: 'give_up', step } : $park",
      "patienceOf(step, now) < new Date(0) ? { kind: 'give_up', step } : $park",
    ],
    [
      'a parent that waits is shown as running',
      "awaits_kind === 'child' ? 'waiting_child' : 'running'",
      "awaits_kind === 'publish' ? 'waiting_child' : 'running'",
    ],
    ['a child takes the last call', 'most - treeCalls - job.depth', 'most - treeCalls'],
    [
      'a child has the calls of a root',
      'most - treeCalls - job.depth',
      'most - job.model_calls - job.depth',
    ],
    ['a child makes more calls than it was given', '(job.most_steps ?? most)', 'most'],
  ]),
  ...mutantsOf(delegation, [
    [
      'a child has tools that its parent lacks',
      '(parent === null || parent.includes(name)) && $other',
      '$other',
    ],
    ['a child at any depth has children', 'depth < MOST_DEPTH', 'depth <= MOST_DEPTH'],
    ['any number of children', 'children >= MOST_CHILDREN', 'children > MOST_CHILDREN'],
    [
      'a child has read nothing',
      'taint, conversation_id: null',
      'taint: [], conversation_id: null',
    ],
    ['a child is free of the schedule', 'scheduled: parent.scheduled', 'scheduled: false'],
    [
      'a parent forgets what its child has read',
      '...new Set([...taint, ...child.taint])',
      '...taint',
    ],
    [
      'a parent takes words of strangers for its own',
      'child.taint.length > 0 ? $untrusted : null',
      'child.taint.length < 0 ? $untrusted : null',
    ],
    [
      'a failure counts as an answer',
      "child.status !== 'completed'",
      "child.status === 'cancelled'",
    ],
    [
      'an answer of any length',
      'result: { text: beginning(text, LONGEST_ANSWER) }',
      'result: { text }',
    ],
  ]),
]

export const ofJobs: Mutant[] = [...ofRounds, ...ofFamilies]
