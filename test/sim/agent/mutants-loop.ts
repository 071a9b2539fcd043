/** Mistakes in the loop of a job: which step it goes on with, and when. */
import { type Mutant, mutantsOf } from '../mutants/mutant.ts'

export const at = (name: string) => `src/domain/agent/job/${name}.ts`

export const loop = at('loop')

export const ofLoop: Mutant[] = [
  ...mutantsOf(loop, [
    ['a later step goes first', 'const [first] = open', 'const first = open.at(-1)'],
  ]),
  ...mutantsOf(at('step'), [
    [
      'a refused call is carried out',
      "state !== 'ready' && state !== 'asked'",
      "state !== 'ready' && state !== 'rejected' && state !== 'asked'",
    ],
    ['a call that is asked counts as over', " && state !== 'asked'", ''],
  ]),
  ...mutantsOf(loop, [
    [
      'a call that is asked is executed',
      "first?.state === 'ready' && first.way",
      "first && first.state !== 'waiting' && first.way",
    ],
    [
      'a command waits for no time',
      "first.way === 'command' && isDue(first, now)",
      "first.way === 'command'",
    ],
    [
      'the time of a job never ends',
      "if (job.active_ms >= MOST_ACTIVE_MS) return failed('deadline')",
      '',
    ],
    [
      'a job that is too late does not do what was approved',
      "if (first?.state === 'ready' && first.way === 'command'",
      "if (job.active_ms < MOST_ACTIVE_MS && first?.state === 'ready' && first.way === 'command'",
    ],
    [
      'a call that nobody decides never expires',
      'step.expires_at && step.expires_at <= now',
      'step.expires_at && step.expires_at < new Date(0)',
    ],
    [
      'a call expires as soon as it is asked',
      'step.expires_at <= now ?',
      'step.expires_at > now ?',
    ],
    [
      'a record that is waited for is not looked at',
      "step.awaits_kind === 'child' ? waiting(open, now) : { kind: 'look', step }",
      "step.awaits_kind === 'child' ? waiting(open, now) : parked(open, now)",
    ],
    [
      'reads run before their time',
      ' || !isDue(step, now))\n  return open.slice',
      ')\n  return open.slice',
    ],
    ['reads take others along', "step.way !== 'read' || step.state", 'step.state'],
    [
      'any number of reads run together',
      'Math.min(MOST_READS, end === -1 ? open.length : end)',
      'end === -1 ? open.length : end',
    ],
    ['one read at a time', 'Math.min(MOST_READS,', 'Math.min(1,'],
    [
      'an urgent call takes the way of others',
      "step.way === 'urgent' || step.way === 'outside' ?",
      "step.way === 'outside' ?",
    ],
    [
      'a job sleeps past the time of a decision',
      'Math.min(...times.flatMap',
      'Math.max(...times.flatMap',
    ],
    [
      'a job that waits for a person is shown as running',
      "if (state === 'asked') return 'waiting_approval'",
      "if (state === 'waiting') return 'waiting_approval'",
    ],
    [
      'a model is asked again at once',
      'return isDue(step, now) ? thinking',
      'return step ? thinking',
    ],
    [
      'an answer that cannot be used ends the job',
      "if (step?.state === 'failed' && step.kind === 'model') return failed('model_failed')",
      "if (step?.state === 'done' && job.invalid_answers > 0) return { kind: 'end', end: { status: 'completed', error: null } }",
    ],
    [
      'a summary that failed ends the job',
      "if (step?.state === 'failed' && step.kind === 'model')",
      "if (step?.state === 'failed')",
    ],
    [
      'a summary that was interrupted is forgotten',
      "heads.findLast(({ kind }) => kind !== 'tool')",
      "heads.findLast(({ kind }) => kind === 'model')",
    ],
    ['one model call more than the plan has', 'left <= 0 ?', 'left < 0 ?'],
    ['the model is not told to conclude', 'last: left === 1', 'last: left === 0'],
    [
      'a failed call is repeated in a new step',
      '? thinking(job, step, { ...bounds, idle }) :',
      '? thinking(job, undefined, { ...bounds, idle }) :',
    ],
  ]),
  ...mutantsOf(at('job'), [
    ['a job ends twice', 'if (isOver(job)) fail(', 'if (!job) fail('],
    ['a cancelled job goes on', " || status === 'cancelled'", ''],
  ]),
]
