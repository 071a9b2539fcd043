/** Around a call: why it is asked, what the agent was told and did, and what it read. */
import { reasonText } from '#domain/agent/job/why-asked'
import { ApiError } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { useRead } from '../../api/queries.ts'
import { Exact, ExactText } from '../../parts/exact-text.tsx'
import { OthersWords } from '../../parts/others-words.tsx'
import { ReadView } from '../../parts/states.tsx'
import type { CallToDecide } from './state.ts'

type Step = AnswerOf<'agent.jobs.get'>['steps'][number]

const STEPS = 3
/** Characters of a step's words. */
const SHOWN = 280

const shorten = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

const STATES: Record<Step['state'], string> = {
  ready: 'waits',
  asked: 'asks',
  running: 'runs',
  waiting: 'waits for an outcome',
  done: 'done',
  failed: 'failed',
  rejected: 'refused',
  unknown: 'perhaps done',
  cancelled: 'cancelled',
}

/** What ended before the call was asked. */
const stepsBefore = (steps: readonly Step[], { created_at }: CallToDecide): Step[] =>
  steps.filter(({ endedAt }) => endedAt !== null && endedAt <= created_at)

const StepLine = ({ step }: { step: Step }) => {
  const { kind, name, state, arguments: given, result, error } = step
  const words = kind === 'tool' ? JSON.stringify(given) : (result ?? '')
  return (
    <li>
      <p>
        <span className="mono">{kind === 'tool' ? name : 'thought'}</span>{' '}
        <span className="soft">{STATES[state]}</span>
      </p>
      {words && words !== '{}' && <ExactText text={shorten(words)} />}
      {error && <ExactText text={`Failed: ${shorten(error)}`} />}
    </li>
  )
}

/** The marks around others' words are for the model, which also reads what is beside them. */
const MARKED = /<(untrusted-[0-9a-f]+)>\n?([\s\S]*?)\n?<\/\1>/

const wordsIn = (result: string): string => MARKED.exec(result)?.[2] ?? result

const Read = ({ steps }: { steps: readonly Step[] }) =>
  steps.flatMap(({ number, untrusted, result }) =>
    untrusted === null || result === null ? (
      []
    ) : (
      <OthersWords key={number} whose={`Words of others: ${untrusted}`} text={wordsIn(result)} />
    ),
  )

const Job = ({ call }: { call: CallToDecide }) => {
  const read = useRead('agent.jobs.get', { id: call.job_id })
  const isHidden = read.error instanceof ApiError && read.error.code === 'not_found'
  if (isHidden)
    return (
      <p className="soft">
        This was asked in a private conversation, or its job is no longer kept. Its goal, its steps
        and what it read are shown to those who can read it.
      </p>
    )
  const before = stepsBefore(read.data?.steps ?? [], call)
  return (
    <ReadView read={read} what="The job of the agent" lines={3}>
      <h3>The agent was told</h3>
      <ExactText text={call.goal} />
      <Read steps={before} />
      {before.length > 0 && (
        <>
          <h3>Its last steps</h3>
          <ol className="job-steps">
            {before.slice(-STEPS).map((step) => (
              <StepLine key={step.number} step={step} />
            ))}
          </ol>
        </>
      )}
    </ReadView>
  )
}

export const CallContext = ({ call }: { call: CallToDecide }) => (
  <section className="pane-part" aria-label="Why it is asked">
    <h3>Why you are asked</h3>
    <ul className="why-list">
      {call.why.map((why) => (
        <li key={why} dir="auto">
          <Exact text={reasonText(why)} />
        </li>
      ))}
    </ul>
    {(call.job?.taint.length ?? 0) > 0 && (
      <p className="care-note">
        The agent has read words of people outside this workspace. Such words can try to steer it:
        check that this is what you want.
      </p>
    )}
    <Job call={call} />
  </section>
)
