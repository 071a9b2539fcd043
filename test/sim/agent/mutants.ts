/**
 * Mistakes in the rules of the agent's jobs, one change of the source each: the simulation must
 * find every one.
 */
import { type Mutant, mutantsOf } from '../mutants/mutant.ts'
import { ofJobs } from './mutants-jobs.ts'
import { at, ofLoop } from './mutants-loop.ts'

const [verdict, budget, offer] = [at('verdict'), at('budget'), at('offer')]
const [approval, transcript, handles, answer] = [
  at('approval'),
  at('transcript'),
  at('handles'),
  at('answer'),
]

const ofVerdict: Mutant[] = [
  ...mutantsOf(verdict, [
    [
      'a rule that denies is ignored',
      `if (rule === 'deny') return $denied
      $$others
      if (own) return allow`,
      `if (rule === 'deny' && own) return $denied
      $$others
      if (own) return allow`,
    ],
    [
      'what publishes is not asked',
      `if (of === 'commit') return $asked
if (rule === 'ask') return $ruled`,
      `if (of === 'commit' && rule !== 'allow') return $asked
if (rule === 'ask') return $ruled`,
    ],
    [
      'what publishes is asked only after foreign text',
      "if (of === 'commit') return ask(commits, ...untrusted(taint))",
      "if (of === 'commit' && taint.length > 0) return ask(commits, ...untrusted(taint))",
    ],
    [
      'foreign text does not matter',
      'taint.length > 0 ? ask(...untrusted(taint)) : allow',
      'taint.length > 9 ? ask(...untrusted(taint)) : allow',
    ],
    [
      'a rule that asks is ignored',
      "if (rule === 'ask') return ask($why, ...untrusted(taint))",
      "if (rule === 'ask' && taint.length > 0) return ask($why, ...untrusted(taint))",
    ],
    [
      'what leaves the workspace is not asked after foreign text',
      "rule === 'allow' && taint.length === 0",
      "rule === 'allow'",
    ],
    [
      'what leaves the workspace needs no rule',
      "rule === 'allow' && taint.length === 0",
      'taint.length === 0',
    ],
    [
      'what may have happened is done again',
      'if (isRepeat) return ask($why, ...untrusted(taint))',
      'if (isRepeat && taint.length > 0) return ask($why, ...untrusted(taint))',
    ],
    [
      'a role that may not gets its way',
      'if (!mayRun) return own ? $denied : $asked',
      'if (!mayRun && own) return own ? $denied : $asked',
    ],
    ['anybody pauses', "if (!mayRun) return deny('the caller may not do this')", ''],
  ]),
]

const ofOffer: Mutant[] = [
  ...mutantsOf(offer, [
    [
      'a forbidden tool is offered',
      'denied.has(tool.name) || (job.tools && !job.tools.includes(tool.name))',
      'job.tools && !job.tools.includes(tool.name)',
    ],
    [
      'a job is offered more than its own tools',
      'denied.has(tool.name) || (job.tools && !job.tools.includes(tool.name))',
      'denied.has(tool.name)',
    ],
    [
      'a viewer is offered what changes something',
      'readsOnly || isReading(tool)',
      'isReading(tool)',
    ],
    [
      'tools that were asked for stay hidden',
      'coreTools.includes(name) || shown.includes(name)',
      'coreTools.includes(name)',
    ],
    [
      'all tools are defined at once',
      'offered.length < FEW_TOOLS && offered.every($isOwn)',
      'offered.length > 0 && offered.every($isOwn)',
    ],
  ]),
]

const ofBudget: Mutant[] = [
  ...mutantsOf(budget, [
    [
      'the longest answer is always reserved',
      'Math.min(ANSWER_TOKENS, room - input)',
      'ANSWER_TOKENS',
    ],
    [
      'what is used does not count',
      'limit - (usage.counters[$key] ?? 0)',
      'limit - 0 * (usage.counters[$key] ?? 0)',
    ],
    ['the month does not count', 'rooms[0][1] <= rooms[1][1] ? rooms[0] : rooms[1]', 'rooms[0]'],
    ['the cost does not count', "cost > roomIn(usage, 'agent_cost_month', month)", 'cost < 0'],
    ['the input is not reserved', 'const tokens = input + maxTokens', 'const tokens = maxTokens'],
    [
      'what was not used is not given back',
      'tokens: Math.min(0, tokens)',
      'tokens: Math.max(0, tokens) * 0',
    ],
    ['it is given back to another day', 'day: reserved.day ?? present.day', 'day: present.day'],
    [
      'it is given back to another month',
      'month: reserved.month ?? present.month',
      'month: present.month',
    ],
    ['what the estimate missed is free', 'tokens: Math.max(0, tokens)', 'tokens: 0'],
  ]),
]

const ofTheRest: Mutant[] = [
  ...mutantsOf(approval, [
    [
      'a decision is taken again',
      "if (approval.status !== 'pending') $fail",
      "if (approval.status === 'rejected') $fail",
    ],
    [
      'a rejected call is approved after all',
      "if (approval.status !== 'pending') $fail",
      "if (approval.status === 'approved') $fail",
    ],
    [
      'it is approved after its time',
      "status === 'approved' && approval.expires_at <= now",
      "status === 'rejected' && approval.expires_at <= now",
    ],
    [
      'a changed record is taken for the one that was shown',
      '$others && sha256 === other.sha256',
      '$others',
    ],
  ]),
  ...mutantsOf(transcript, [
    [
      'a failed call has no result',
      "step.kind === 'tool' && step.of_step === thought.number",
      "step.kind === 'tool' && step.state !== 'failed' && step.of_step === thought.number",
    ],
    [
      'a refused call has no result',
      "step.kind === 'tool' && step.of_step === thought.number",
      "step.kind === 'tool' && step.state !== 'rejected' && step.of_step === thought.number",
    ],
    ['foreign text is not marked', 'step.untrusted ? marked(text, step.untrusted) : text', 'text'],
    [
      'the model is not told of a refusal',
      "if (step.state === 'rejected') return text === '' ? $refused : text",
      "if (step.state === 'rejected' && !text) return text === '' ? $refused : text",
    ],
    ['a doubt is told as a failure', "if (step.state === 'unknown') return $doubt", ''],
  ]),
  ...mutantsOf(handles, [
    [
      'any uuid names a record',
      '(isUuid(text) && !this.#isKnown(text.toLowerCase(), typed))',
      '(isUuid(text) && !text)',
    ],
    [
      'a handle is given away again',
      '(this.#last.get(kind) ?? 0) + 1',
      '(this.#last.get(kind) ?? 1)',
    ],
    ['a record gets a new name each time', 'if (before) return before', ''],
    ['lists show uuids', 'if (isUuid(value)) return this.#handle(around, value)', ''],
  ]),
  ...mutantsOf(answer, [
    [
      'all calls of an answer are made',
      'answer.calls.slice(0, MOST_CALLS)',
      'answer.calls.slice()',
    ],
    [
      'all further calls are refused one by one',
      'answer.calls.slice(MOST_CALLS, MOST_READ_CALLS)',
      'answer.calls.slice(MOST_CALLS)',
    ],
    [
      'calls that are left out are not counted',
      'left + Math.max(0, answer.calls.length - MOST_READ_CALLS)',
      'left + 0 * Math.max(0, answer.calls.length - MOST_READ_CALLS)',
    ],
  ]),
  ...mutantsOf(transcript, [
    [
      'the model is not told of calls that were refused',
      '...(refused ? refusedMessages(refused) : [])',
      '',
    ],
    ['nor how many were left out', 'isLast && left > 0', 'isLast && left < 0'],
  ]),
  ...mutantsOf(answer, [
    ['text is kept as it came', 'text: storable(answer.text)', 'text: answer.text'],
    [
      'any usage counts',
      'answer.usage && isPlausible(answer.usage) ? answer.usage : undefined',
      'answer.usage ? answer.usage : undefined',
    ],
  ]),
]

export const agentMutants: Mutant[] = [
  ...ofJobs,
  ...ofLoop,
  ...ofVerdict,
  ...ofOffer,
  ...ofBudget,
  ...ofTheRest,
]
