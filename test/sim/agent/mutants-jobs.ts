/** Mistakes in the rules of whole jobs: whether they get anywhere, and their families. */
import { type Mutant, mutantsOf } from '../mutants/mutant.ts'
import { at, loop } from './mutants-loop.ts'

const rounds = at('rounds')

const ofRounds: Mutant[] = [
  ...mutantsOf(loop, [
    ['a job in circles need not conclude', ' || idle >= MOST_IDLE_ROUNDS }', ' }'],
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
      'news.length > 0',
      'news.length === round.length',
    ],
    ['one idle round after the other is forgotten', '? 0 : idle + 1', '? 0 : 1'],
    ['a new call is nothing new', 'if (!calls.has(callOf(head))) return true', ''],
    [
      'a new result is nothing new',
      "return head.state === 'done' && !results",
      "return head.state === 'failed' && !results",
    ],
    ['a refusal is something new', "return head.state === 'done' && !results", 'return !results'],
    ['what a person decides is nothing new', "head.state === 'rejected' || ", ''],
    ['a doubt is nothing new', " || head.state === 'unknown'", ''],
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
    ['a parent looks at its child', "step.awaits_kind === 'child' ? waiting(open, now) : ", ''],
    [
      'a parent waits for ever',
      'patienceOf(step, now) <= now ?',
      'patienceOf(step, now) < new Date(0) ?',
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
      '(parent === null || parent.includes(name)) && ',
      '',
    ],
    ['a child at any depth has children', 'depth < MOST_DEPTH', 'depth <= MOST_DEPTH'],
    ['any number of children', 'children >= MOST_CHILDREN', 'children > MOST_CHILDREN'],
    [
      'a child has read nothing',
      'asked_model, model, taint, conversation_id',
      'asked_model, model, taint: [], conversation_id',
    ],
    ['a child is free of the schedule', 'scheduled: parent.scheduled', 'scheduled: false'],
    [
      'a parent forgets what its child has read',
      '...new Set([...parent.taint, ...child.taint])',
      '...parent.taint',
    ],
    [
      'a parent takes words of strangers for its own',
      'child.taint.length > 0 ?',
      'child.taint.length < 0 ?',
    ],
    [
      'a failure counts as an answer',
      "if (child.status !== 'completed')",
      "if (child.status === 'cancelled')",
    ],
    [
      'an answer of any length',
      'result: { text: beginning(text, LONGEST_ANSWER) }',
      'result: { text }',
    ],
  ]),
]

export const ofJobs: Mutant[] = [...ofRounds, ...ofFamilies]
