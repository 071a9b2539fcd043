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
    [
      'a call that is asked counts as over',
      "state !== 'ready' && state !== 'asked'",
      "state !== 'ready'",
    ],
  ]),
  ...mutantsOf(loop, [
    [
      'a call that is asked is executed',
      "first?.state === 'ready' && first.way === 'command'",
      "first && first.state !== 'waiting' && first.way === 'command'",
    ],
    [
      'a command waits for no time',
      "first?.state === 'ready' && first.way === 'command' && isDue(first, now)",
      "first?.state === 'ready' && first.way === 'command'",
    ],
    [
      'the time of a job never ends',
      "if (job.active_ms >= MOST_ACTIVE_MS) return failed('deadline')",
      '',
    ],
    [
      'a job that is too late does not do what was approved',
      `if (first?.state === 'ready' && first.way === 'command' && $isDue) return $execute
if (job.active_ms >= MOST_ACTIVE_MS) return $end`,
      `if (job.active_ms >= MOST_ACTIVE_MS) return $end
if (first?.state === 'ready' && first.way === 'command' && $isDue) return $execute`,
    ],
    [
      'a call that nobody decides never expires',
      'step.expires_at && step.expires_at <= now',
      'step.expires_at && step.expires_at < new Date(0)',
    ],
    [
      'a call expires as soon as it is asked',
      'step.expires_at && step.expires_at <= now',
      'step.expires_at && step.expires_at > now',
    ],
    [
      'a record that is waited for is not looked at',
      `if (step.state === 'waiting') return $wait
      if (!isDue(step, now)) return parked(open, now)`,
      `if (step.state === 'waiting' && step.awaits_kind !== 'child') return parked(open, now)
      if (step.state === 'waiting') return $wait
      if (!isDue(step, now)) return parked(open, now)`,
    ],
    [
      'reads run before their time',
      "step.way !== 'read' || step.state !== 'ready' || !isDue(step, now)",
      "step.way !== 'read' || step.state !== 'ready'",
    ],
    [
      'reads take others along',
      "step.way !== 'read' || step.state !== 'ready'",
      "step.state !== 'ready'",
    ],
    [
      'any number of reads run together',
      'Math.min(MOST_READS, end === -1 ? open.length : end)',
      'end === -1 ? open.length : end',
    ],
    [
      'one read at a time',
      'Math.min(MOST_READS, end === -1 ? open.length : end)',
      'Math.min(1, end === -1 ? open.length : end)',
    ],
    [
      'an urgent call takes the way of others',
      "step.way === 'urgent' || step.way === 'outside'",
      "step.way === 'outside'",
    ],
    [
      'a job sleeps past the time of a decision',
      'Math.min(...times.flatMap($later))',
      'Math.max(...times.flatMap($later))',
    ],
    [
      'a job that waits for a person is shown as running',
      "if (state === 'asked') return 'waiting_approval'",
      "if (state === 'waiting') return 'waiting_approval'",
    ],
    [
      'a model is asked again at once',
      "isDue(step, now) ? $think : { kind: 'park', $$rest }",
      "step ? $think : { kind: 'park', $$rest }",
    ],
    [
      'an answer that cannot be used ends the job',
      `if (step?.state === 'ready') return isDue(step, now) ? thinking(job, step, $bounds) : $park
      if (step?.state === 'failed' && step.kind === 'model') return $failed`,
      `if (step?.state === 'ready') return isDue(step, now) ? thinking(job, step, $bounds) : $park
      if (step?.state === 'done' && job.invalid_answers > 0) return { kind: 'end', end: { status: 'completed', error: null } }`,
    ],
    [
      'a summary that failed ends the job',
      "step?.state === 'failed' && step.kind === 'model'",
      "step?.state === 'failed'",
    ],
    [
      'a summary that was interrupted is forgotten',
      "heads.findLast(({ kind }) => kind !== 'tool')",
      "heads.findLast(({ kind }) => kind === 'model')",
    ],
    [
      'one model call more than the plan has',
      "left <= 0 ? $end : { kind: 'think', $$rest }",
      "left < 0 ? $end : { kind: 'think', $$rest }",
    ],
    [
      'the model is not told to conclude',
      'last: left === 1 || $isIdle',
      'last: left === 0 || $isIdle',
    ],
    [
      'a failed call is repeated in a new step',
      'isDue(step, now) ? thinking(job, step, $bounds) : $park',
      'isDue(step, now) ? thinking(job, undefined, $bounds) : $park',
    ],
  ]),
  ...mutantsOf(at('job'), [
    ['a job ends twice', "if (isOver(job)) fail('conflict', $)", ''],
    ['a cancelled job goes on', "$others || status === 'cancelled'", '$others'],
  ]),
]
