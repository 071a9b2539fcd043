/** Mistakes in the rules of the agent's jobs, one change of the source each: the simulation must find every one. */
import type { Mutant } from '../mutant.ts'
import { ofJobs } from './mutants-jobs.ts'

const at = (name: string) => `src/domain/agent/job/${name}.ts`

const [loop, verdict, budget, offer] = [at('loop'), at('verdict'), at('budget'), at('offer')]
const [approval, transcript, handles, answer] = [at('approval'), at('transcript'), at('handles'), at('answer')]

const ofLoop: Mutant[] = [
  { name: 'a later step goes first', file: loop, from: 'const [first] = open', to: 'const first = open.at(-1)' },
  {
    name: 'a refused call is carried out',
    file: at('step'),
    from: "state !== 'ready' && state !== 'asked'",
    to: "state !== 'ready' && state !== 'rejected' && state !== 'asked'",
  },
  { name: 'a call that is asked counts as over', file: at('step'), from: " && state !== 'asked'", to: '' },
  {
    name: 'a call that is asked is executed',
    file: loop,
    from: "first?.state === 'ready' && first.way",
    to: "first && first.state !== 'waiting' && first.way",
  },
  { name: 'a command waits for no time', file: loop, from: "first.way === 'command' && isDue(first, now)", to: "first.way === 'command'" },
  { name: 'the time of a job never ends', file: loop, from: "if (job.active_ms >= MOST_ACTIVE_MS) return failed('deadline')", to: '' },
  {
    name: 'a job that is too late does not do what was approved',
    file: loop,
    from: "if (first?.state === 'ready' && first.way === 'command'",
    to: "if (job.active_ms < MOST_ACTIVE_MS && first?.state === 'ready' && first.way === 'command'",
  },
  {
    name: 'a call that nobody decides never expires',
    file: loop,
    from: 'step.expires_at && step.expires_at <= now',
    to: 'step.expires_at && step.expires_at < new Date(0)',
  },
  { name: 'a call expires as soon as it is asked', file: loop, from: 'step.expires_at <= now ?', to: 'step.expires_at > now ?' },
  {
    name: 'a record that is waited for is not looked at',
    file: loop,
    from: "step.awaits_kind === 'child' ? waiting(open, now) : { kind: 'look', step }",
    to: "step.awaits_kind === 'child' ? waiting(open, now) : parked(open, now)",
  },
  { name: 'reads run before their time', file: loop, from: ' || !isDue(step, now))\n  return open.slice', to: ')\n  return open.slice' },
  { name: 'reads take others along', file: loop, from: "step.way !== 'read' || step.state", to: 'step.state' },
  {
    name: 'any number of reads run together',
    file: loop,
    from: 'Math.min(MOST_READS, end === -1 ? open.length : end)',
    to: 'end === -1 ? open.length : end',
  },
  { name: 'one read at a time', file: loop, from: 'Math.min(MOST_READS,', to: 'Math.min(1,' },
  {
    name: 'an urgent call takes the way of others',
    file: loop,
    from: "step.way === 'urgent' || step.way === 'outside' ?",
    to: "step.way === 'outside' ?",
  },
  { name: 'a job sleeps past the time of a decision', file: loop, from: 'Math.min(...times.flatMap', to: 'Math.max(...times.flatMap' },
  {
    name: 'a job that waits for a person is shown as running',
    file: loop,
    from: "if (state === 'asked') return 'waiting_approval'",
    to: "if (state === 'waiting') return 'waiting_approval'",
  },
  { name: 'a model is asked again at once', file: loop, from: 'return isDue(step, now) ? thinking', to: 'return step ? thinking' },
  {
    name: 'an answer that cannot be used ends the job',
    file: loop,
    from: "if (step?.state === 'failed' && step.kind === 'model') return failed('model_failed')",
    to: "if (step?.state === 'done' && job.invalid_answers > 0) return { kind: 'end', end: { status: 'completed', error: null } }",
  },
  {
    name: 'a summary that failed ends the job',
    file: loop,
    from: "if (step?.state === 'failed' && step.kind === 'model')",
    to: "if (step?.state === 'failed')",
  },
  {
    name: 'a summary that was interrupted is forgotten',
    file: loop,
    from: "heads.findLast(({ kind }) => kind !== 'tool')",
    to: "heads.findLast(({ kind }) => kind === 'model')",
  },
  { name: 'one model call more than the plan has', file: loop, from: 'left <= 0 ?', to: 'left < 0 ?' },
  {
    name: 'the model is not told to conclude',
    file: loop,
    from: 'last: left === 1',
    to: 'last: left === 0',
  },
  {
    name: 'a failed call is repeated in a new step',
    file: loop,
    from: '? thinking(job, step, { ...bounds, idle }) :',
    to: '? thinking(job, undefined, { ...bounds, idle }) :',
  },
  { name: 'a job ends twice', file: at('job'), from: 'if (isOver(job)) fail(', to: 'if (!job) fail(' },
  { name: 'a cancelled job goes on', file: at('job'), from: " || status === 'cancelled'", to: '' },
]

const ofVerdict: Mutant[] = [
  { name: 'a rule that denies is ignored', file: verdict, from: "if (rule === 'deny') return", to: "if (rule === 'deny' && own) return" },
  {
    name: 'what publishes is not asked',
    file: verdict,
    from: "if (of === 'commit') return",
    to: "if (of === 'commit' && rule !== 'allow') return",
  },
  {
    name: 'what publishes is asked only after foreign text',
    file: verdict,
    from: "if (of === 'commit') return",
    to: "if (of === 'commit' && taint.length > 0) return",
  },
  { name: 'foreign text does not matter', file: verdict, from: 'return taint.length > 0 ? ask(', to: 'return taint.length > 9 ? ask(' },
  {
    name: 'a rule that asks is ignored',
    file: verdict,
    from: "if (rule === 'ask') return",
    to: "if (rule === 'ask' && taint.length > 0) return",
  },
  {
    name: 'what leaves the workspace is not asked after foreign text',
    file: verdict,
    from: "rule === 'allow' && taint.length === 0",
    to: "rule === 'allow'",
  },
  {
    name: 'what leaves the workspace needs no rule',
    file: verdict,
    from: "rule === 'allow' && taint.length === 0",
    to: 'taint.length === 0',
  },
  {
    name: 'what may have happened is done again',
    file: verdict,
    from: 'if (isRepeat) return',
    to: 'if (isRepeat && taint.length > 0) return',
  },
  { name: 'a role that may not gets its way', file: verdict, from: 'if (!mayRun) return own', to: 'if (!mayRun && own) return own' },
  { name: 'anybody pauses', file: verdict, from: "if (!mayRun) return deny('the caller may not do this')", to: '' },
]

const ofOffer: Mutant[] = [
  { name: 'a forbidden tool is offered', file: offer, from: 'denied.has(tool.name) || ', to: '' },
  { name: 'a job is offered more than its own tools', file: offer, from: ' || (job.tools && !job.tools.includes(tool.name))', to: '' },
  {
    name: 'a viewer is offered what changes something',
    file: offer,
    from: 'if (readsOnly || isReading(tool))',
    to: 'if (isReading(tool))',
  },
  { name: 'tools that were asked for stay hidden', file: offer, from: ' || shown.includes(name)', to: '' },
  {
    name: 'all tools are defined at once',
    file: offer,
    from: 'offered.length < FEW_TOOLS &&',
    to: 'offered.length > 0 &&',
  },
]

const ofBudget: Mutant[] = [
  { name: 'the longest answer is always reserved', file: budget, from: 'Math.min(ANSWER_TOKENS, room - input)', to: 'ANSWER_TOKENS' },
  { name: 'what is used does not count', file: budget, from: 'limit - (usage.counters', to: 'limit - 0 * (usage.counters' },
  { name: 'the month does not count', file: budget, from: 'rooms[0][1] <= rooms[1][1] ? rooms[0] : rooms[1]', to: 'rooms[0]' },
  {
    name: 'the cost does not count',
    file: budget,
    from: "if (cost > roomIn(usage, 'agent_cost_month', month)) return",
    to: 'if (cost < 0) return',
  },
  { name: 'the input is not reserved', file: budget, from: 'const tokens = input + maxTokens', to: 'const tokens = maxTokens' },
  { name: 'what was not used is not given back', file: budget, from: 'Math.min(0, tokens)', to: 'Math.max(0, tokens) * 0' },
  { name: 'it is given back to another day', file: budget, from: 'day: reserved.day ?? present.day', to: 'day: present.day' },
  { name: 'it is given back to another month', file: budget, from: 'month: reserved.month ?? present.month', to: 'month: present.month' },
  { name: 'what the estimate missed is free', file: budget, from: 'Math.max(0, tokens), cost', to: '0, cost' },
]

const ofTheRest: Mutant[] = [
  {
    name: 'a decision is taken again',
    file: approval,
    from: "if (approval.status !== 'pending')\n",
    to: "if (approval.status === 'rejected')\n",
  },
  {
    name: 'a rejected call is approved after all',
    file: approval,
    from: "if (approval.status !== 'pending')\n",
    to: "if (approval.status === 'approved')\n",
  },
  {
    name: 'it is approved after its time',
    file: approval,
    from: "status === 'approved' && approval.expires_at <= now",
    to: "status === 'rejected' && approval.expires_at <= now",
  },
  { name: 'a changed record is taken for the one that was shown', file: approval, from: ' && sha256 === other.sha256', to: '' },
  {
    name: 'a failed call has no result',
    file: transcript,
    from: "kind === 'tool' && step.of_step",
    to: "kind === 'tool' && step.state !== 'failed' && step.of_step",
  },
  {
    name: 'a refused call has no result',
    file: transcript,
    from: "kind === 'tool' && step.of_step",
    to: "kind === 'tool' && step.state !== 'rejected' && step.of_step",
  },
  {
    name: 'foreign text is not marked',
    file: transcript,
    from: 'return step.untrusted ? marked(text, step.untrusted) : text',
    to: 'return text',
  },
  {
    name: 'the model is not told of a refusal',
    file: transcript,
    from: "if (step.state === 'rejected') return",
    to: "if (step.state === 'rejected' && !text) return",
  },
  {
    name: 'a doubt is told as a failure',
    file: transcript,
    from: "if (step.state === 'unknown') return",
    to: "if (step.state === 'unknown' && !step) return",
  },
  {
    name: 'any uuid names a record',
    file: handles,
    from: '(isUuid(text) && !this.#isKnown(text.toLowerCase(), typed))',
    to: '(isUuid(text) && !text)',
  },
  { name: 'a handle is given away again', file: handles, from: '(this.#last.get(kind) ?? 0) + 1', to: '(this.#last.get(kind) ?? 1)' },
  { name: 'a record gets a new name each time', file: handles, from: 'if (before) return before', to: '' },
  {
    name: 'lists show uuids',
    file: handles,
    from: 'if (isUuid(value)) return this.#handle(around, value)',
    to: '',
  },
  { name: 'all calls of an answer are made', file: answer, from: 'answer.calls.slice(0, MOST_CALLS)', to: 'answer.calls.slice()' },
  { name: 'all further calls are refused one by one', file: answer, from: '.slice(MOST_CALLS, MOST_READ_CALLS)', to: '.slice(MOST_CALLS)' },
  {
    name: 'calls that are left out are not counted',
    file: answer,
    from: 'left: left + Math.max(0, answer',
    to: 'left: left + 0 * Math.max(0, answer',
  },
  {
    name: 'the model is not told of calls that were refused',
    file: transcript,
    from: '...(refused ? refusedMessages(refused) : [])',
    to: '',
  },
  { name: 'nor how many were left out', file: transcript, from: 'isLast && left > 0', to: 'isLast && left < 0' },
  { name: 'text is kept as it came', file: answer, from: 'text: storable(answer.text)', to: 'text: answer.text' },
  { name: 'any usage counts', file: answer, from: 'answer.usage && isPlausible(answer.usage) ?', to: 'answer.usage ?' },
]

export const agentMutants: Mutant[] = [...ofJobs, ...ofLoop, ...ofVerdict, ...ofOffer, ...ofBudget, ...ofTheRest]
