/**
 * The spans of a job, computed from its rows on request, with the same result each time. Names and
 * attributes follow the GenAI conventions of OpenTelemetry. Arguments and results are in the job's
 * steps, not here.
 */
import { createHash } from 'node:crypto'
import type { Approval } from './approval.ts'
import type { Job } from './job.ts'
import { NO_MODEL } from './model-choice.ts'
import { isFinished } from './step.ts'
import type { ShownStep } from './views.ts'

export interface Span {
  traceId: string
  spanId: string
  parentSpanId: string | null
  name: string
  kind: 'internal' | 'client'
  startTime: Date
  endTime: Date | null
  durationMs: number | null
  status: 'unset' | 'ok' | 'error'
  attributes: Record<string, unknown>
}

/** The version of the conventions. */
const CONVENTIONS = '1.41'
const SPAN_ID_LENGTH = 16

const traceIdOf = ({ root_id }: Job): string => root_id.replaceAll('-', '')

const spanIdOf = (...parts: (string | number)[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, SPAN_ID_LENGTH)

const rootOf = (jobId: string): string => spanIdOf('job', jobId)
/** `attempt`: by default the one that the step shows. */
const stepSpanOf = ({ id, tries }: ShownStep, attempt = tries.length): string =>
  spanIdOf('step', id, attempt)

const waitSpanOf = (stepId: string): string => spanIdOf('wait', stepId)

/** Drops attributes that are unknown. */
const known = (attributes: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined),
  )

type Rest = Omit<Span, 'traceId' | 'durationMs'>

const spanOf = (job: Job, { attributes, ...span }: Rest): Span => ({
  traceId: traceIdOf(job),
  ...span,
  durationMs: span.endTime && span.endTime.getTime() - span.startTime.getTime(),
  attributes: known(attributes),
})

const providerOf = (model: string): string => (model === NO_MODEL ? 'tendril' : 'openai')

const jobStatus = ({ status }: Job): Span['status'] => {
  if (status === 'completed') return 'ok'
  return status === 'failed' ? 'error' : 'unset'
}

const jobSpan = (job: Job): Span =>
  spanOf(job, {
    spanId: rootOf(job.id),
    parentSpanId: job.parent_step_id && waitSpanOf(job.parent_step_id),
    name: 'invoke_agent tendril',
    kind: 'internal',
    startTime: job.created_at,
    endTime: job.ended_at,
    status: jobStatus(job),
    attributes: {
      'otel.semconv': CONVENTIONS,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'tendril',
      'gen_ai.provider.name': providerOf(job.model),
      'gen_ai.request.model': job.model,
      'gen_ai.conversation.id': job.conversation_id,
      'gen_ai.usage.input_tokens': job.input_tokens,
      'gen_ai.usage.output_tokens': job.output_tokens,
      'error.type': job.error,
      'tendril.job.kind': job.kind,
      'tendril.taint': job.taint,
      'tendril.cost': job.cost,
    },
  })

const stepStatus = ({ state }: ShownStep): Span['status'] => {
  if (state === 'done') return 'ok'
  return state === 'failed' || state === 'unknown' ? 'error' : 'unset'
}

const modelAttributes = (job: Job, step: ShownStep) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': providerOf(job.model),
  'gen_ai.request.model': step.kind === 'model' ? job.model : step.name,
  'gen_ai.response.model': step.name,
  'gen_ai.usage.input_tokens': step.input_tokens,
  'gen_ai.usage.output_tokens': step.output_tokens,
  'gen_ai.conversation.id': job.conversation_id,
  'tendril.cost': step.cost,
  'tendril.reserved': step.reserved_tokens,
})

const toolAttributes = (step: ShownStep, approval: Approval | undefined) => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': step.name,
  'gen_ai.tool.call.id': step.call,
  'gen_ai.tool.type': 'function',
  'tendril.why': step.why,
  'tendril.untrusted': step.untrusted,
  'tendril.approval': approval?.id,
})

interface Attempt extends Pick<Rest, 'startTime' | 'endTime' | 'status'> {
  number: number
  error: string | null
}

const attemptSpan = (
  job: Job,
  step: ShownStep,
  attempt: Attempt,
  approval: Approval | undefined,
): Span => {
  const isTool = step.kind === 'tool'
  const { number, error, ...span } = attempt
  return spanOf(job, {
    ...span,
    spanId: stepSpanOf(step, number),
    parentSpanId: rootOf(job.id),
    kind: isTool ? 'internal' : 'client',
    name: isTool ? `execute_tool ${step.name}` : `chat ${step.name}`,
    attributes: {
      ...(isTool ? toolAttributes(step, approval) : modelAttributes(job, step)),
      'error.type': error,
      'tendril.attempt': number,
    },
  })
}

/** Each try of a step that came to nothing. */
const trySpans = (job: Job, step: ShownStep): Span[] =>
  step.tries.map(({ started_at, ended_at, error }, number) => {
    const times = { startTime: new Date(started_at), endTime: new Date(ended_at) }
    return attemptSpan(
      job,
      { ...step, ...unused },
      { number, error, ...times, status: 'error' },
      undefined,
    )
  })

const unused = { input_tokens: null, output_tokens: null, cost: null, reserved_tokens: 0 }

const stepSpan = (job: Job, step: ShownStep, approval: Approval | undefined): Span => {
  const times = {
    startTime: step.started_at ?? step.created_at,
    endTime: isFinished(step) ? (step.ended_at ?? step.updated_at) : null,
  }
  const error = step.error ?? (step.state === 'unknown' ? 'unknown' : null)
  const span = attemptSpan(
    job,
    step,
    { number: step.tries.length, error, ...times, status: stepStatus(step) },
    approval,
  )
  return { ...span, attributes: { ...span.attributes, 'tendril.state': step.state } }
}

const approvalSpan = (job: Job, step: ShownStep, approval: Approval): Span =>
  spanOf(job, {
    spanId: spanIdOf('approval', approval.id),
    parentSpanId: stepSpanOf(step),
    name: 'wait approval',
    kind: 'internal',
    startTime: approval.created_at,
    endTime: approval.decided_at,
    status: 'unset',
    attributes: {
      'tendril.approval': approval.id,
      'tendril.decision': approval.status,
      'tendril.decided_how': approval.decided_how,
    },
  })

const waitSpan = (job: Job, step: ShownStep): Span =>
  spanOf(job, {
    spanId: waitSpanOf(step.id),
    parentSpanId: stepSpanOf(step),
    name: `wait ${step.awaits_kind}`,
    kind: 'internal',
    startTime: step.started_at ?? step.created_at,
    endTime: step.ended_at,
    status: 'unset',
    attributes: { 'tendril.awaits': step.awaits },
  })

/** Sorted by beginning, each after its parent. */
export const traceOf = (
  job: Job,
  steps: readonly ShownStep[],
  approvals: readonly Approval[],
): Span[] => [
  jobSpan(job),
  ...steps.flatMap((step) => {
    const approval = approvals.find(({ step_id }) => step_id === step.id)
    return [
      ...trySpans(job, step),
      stepSpan(job, step, approval),
      ...(approval ? [approvalSpan(job, step, approval)] : []),
      ...(step.awaits_kind ? [waitSpan(job, step)] : []),
    ]
  }),
]
