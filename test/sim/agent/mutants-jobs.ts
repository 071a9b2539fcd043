/** Mistakes in the rules of whole jobs: whether they get anywhere, and their families. */
import type { Mutant } from '../mutant.ts'

const at = (name: string) => `src/domain/agent/job/${name}.ts`

const loop = at('loop')
const rounds = at('rounds')

const ofRounds: Mutant[] = [
  { name: 'a job in circles need not conclude', file: loop, from: ' || idle >= MOST_IDLE_ROUNDS }', to: ' }' },
  { name: 'a job in circles goes on', file: loop, from: 'idle > MOST_IDLE_ROUNDS || hasConcluded', to: 'idle < 0' },
  {
    name: 'it may conclude again and again',
    file: loop,
    from: 'idle > MOST_IDLE_ROUNDS || hasConcluded',
    to: 'idle > MOST_IDLE_ROUNDS',
  },
  {
    name: 'one call that is the same makes a round idle',
    file: rounds,
    from: 'news.length > 0',
    to: 'news.length === round.length',
  },
  { name: 'one idle round after the other is forgotten', file: rounds, from: '? 0 : idle + 1', to: '? 0 : 1' },
  { name: 'a new call is nothing new', file: rounds, from: 'if (!calls.has(callOf(head))) return true', to: '' },
  {
    name: 'a new result is nothing new',
    file: rounds,
    from: "return head.state === 'done' && !results",
    to: "return head.state === 'failed' && !results",
  },
  { name: 'a refusal is something new', file: rounds, from: "return head.state === 'done' && !results", to: 'return !results' },
  { name: 'what a person decides is nothing new', file: rounds, from: "head.state === 'rejected' || ", to: '' },
  { name: 'a doubt is nothing new', file: rounds, from: " || head.state === 'unknown'", to: '' },
  { name: 'arguments that cannot be read are something new', file: rounds, from: 'if (head.args_hash === null) return false', to: '' },
]

const delegation = at('delegation')

const ofFamilies: Mutant[] = [
  { name: 'a parent looks at its child', file: loop, from: "step.awaits_kind === 'child' ? waiting(open, now) : ", to: '' },
  { name: 'a parent waits for ever', file: loop, from: 'patienceOf(step, now) <= now ?', to: 'patienceOf(step, now) < new Date(0) ?' },
  {
    name: 'a parent that waits is shown as running',
    file: loop,
    from: "awaits_kind === 'child' ? 'waiting_child' : 'running'",
    to: "awaits_kind === 'publish' ? 'waiting_child' : 'running'",
  },
  { name: 'a child takes the last call', file: loop, from: 'most - treeCalls - job.depth', to: 'most - treeCalls' },
  { name: 'a child has the calls of a root', file: loop, from: 'most - treeCalls - job.depth', to: 'most - job.model_calls - job.depth' },
  { name: 'a child makes more calls than it was given', file: loop, from: '(job.most_steps ?? most)', to: 'most' },
  {
    name: 'a child has tools that its parent lacks',
    file: delegation,
    from: '(parent === null || parent.includes(name)) && ',
    to: '',
  },
  { name: 'a child at any depth has children', file: delegation, from: 'depth < MOST_DEPTH', to: 'depth <= MOST_DEPTH' },
  { name: 'any number of children', file: delegation, from: 'children >= MOST_CHILDREN', to: 'children > MOST_CHILDREN' },
  {
    name: 'a child has read nothing',
    file: delegation,
    from: 'asked_model, model, taint, conversation_id',
    to: 'asked_model, model, taint: [], conversation_id',
  },
  { name: 'a child is free of the schedule', file: delegation, from: 'scheduled: parent.scheduled', to: 'scheduled: false' },
  {
    name: 'a parent forgets what its child has read',
    file: delegation,
    from: '...new Set([...parent.taint, ...child.taint])',
    to: '...parent.taint',
  },
  {
    name: 'a parent takes words of strangers for its own',
    file: delegation,
    from: 'child.taint.length > 0 ?',
    to: 'child.taint.length < 0 ?',
  },
  {
    name: 'a failure counts as an answer',
    file: delegation,
    from: "if (child.status !== 'completed')",
    to: "if (child.status === 'cancelled')",
  },
  { name: 'an answer of any length', file: delegation, from: 'result: { text: beginning(text, LONGEST_ANSWER) }', to: 'result: { text }' },
]

export const ofJobs: Mutant[] = [...ofRounds, ...ofFamilies]
