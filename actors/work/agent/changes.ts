/** Collects what a letter changes of a job, so that each row is written once. */
import { type News, settledEvent, statusNews, withEvents } from '#decisions/agent/job-events'
import type { Message } from '#domain/agent/conversation'
import { concludeJob, isOver, type Job } from '#domain/agent/job/job'
import type { JobEnd } from '#domain/agent/job/loop'
import type { Step } from '#domain/agent/job/step'
import { tainted } from '#domain/agent/job/taint'
import { newId } from '#kernel/ids'
import type { Spend } from '#kernel/spend'
import { rejectPending } from '#store/agent/approvals'
import { type AgentEvent, eventEffects } from '#store/agent/events'
import { saveJob } from '#store/agent/jobs'
import { insertMessages } from '#store/agent/messages'
import { cancelSteps, insertSteps, saveStep } from '#store/agent/steps'
import { type ConversationThread, saveThread } from '#store/agent/thread'
import { type Effects, merge } from '#store/engine/letter'

export class JobChanges {
  #job: Job
  #thread: ConversationThread | undefined
  #threadChanged = false
  #why: string | undefined
  readonly #steps = new Map<string, Step>()
  readonly #added: Step[] = []
  readonly #events: AgentEvent[] = []
  readonly #messages: Message[] = []
  readonly #more: Effects[] = []

  constructor(
    job: Job,
    thread: ConversationThread | undefined,
    readonly now: Date,
  ) {
    this.#job = job
    this.#thread = thread
  }

  get job(): Job {
    return this.#job
  }

  get handles(): Record<string, string> {
    return this.#thread?.handles ?? {}
  }

  /** Of a child, that of its root. */
  get conversationId(): string | null {
    return this.#thread?.id ?? null
  }

  set(patch: Partial<Job>): void {
    const { status } = this.#job
    this.#job = { ...this.#job, ...patch, updated_at: this.now }
    if (this.#job.status !== status) this.#tell(statusNews(this.#job))
  }

  /** The job has read untrusted words from there. */
  taint(sources: readonly string[]): void {
    const taint = tainted(this.#job.taint, sources)
    if (taint !== this.#job.taint) this.set({ taint })
  }

  save(step: Step): Step {
    if (this.#steps.has(step.id)) throw new Error(`step ${step.number} is written twice`)
    const saved = { ...step, updated_at: this.now }
    this.#steps.set(step.id, saved)
    return saved
  }

  /** A step that did not exist. It takes the job's next number. */
  add(make: (number: number) => Step): Step {
    const step = make(this.#job.next_step)
    this.#job = { ...this.#job, next_step: step.number + 1 }
    this.#added.push(step)
    return step
  }

  started(step: Step, summary: string): void {
    this.event('step.started', { number: step.number, kind: step.kind, name: step.name, summary })
  }

  endedStep(step: Step): void {
    const ms =
      step.started_at && step.ended_at ? step.ended_at.getTime() - step.started_at.getTime() : 0
    this.event('step.ended', {
      number: step.number,
      kind: step.kind,
      name: step.name,
      state: step.state,
      ms,
    })
  }

  event(type: AgentEvent['type'], data: Record<string, unknown>): void {
    this.#tell({ type, data })
  }

  #tell(news: News): void {
    const { job, events } = withEvents(this.#job, [news], this.now)
    this.#job = job
    this.#events.push(...events)
  }

  /** Handles of records that are shown for the first time. */
  name(added: Record<string, string>): void {
    if (!this.#thread || Object.keys(added).length === 0) return
    this.#thread = { ...this.#thread, handles: { ...this.#thread.handles, ...added } }
    this.#threadChanged = true
  }

  /** A message in the conversation. */
  say(
    role: 'assistant' | 'notice',
    content: string,
    more: Partial<Pick<Message, 'model' | 'tools_used'>> = {},
  ): void {
    // A child has its root's thread for the names of records alone; its parent hears its answer.
    if (!this.#thread || this.#job.conversation_id === null) return
    const message: Message = {
      ...{
        id: newId(),
        conversation_id: this.#thread.id,
        seq: this.#thread.next_seq,
        job_id: this.#job.id,
      },
      ...{
        reply_to: this.#job.message_id,
        role,
        content,
        author: { kind: 'agent', id: this.#job.id },
        untrusted: this.#job.taint.length > 0,
      },
      ...{ model: null, tools_used: [], ...more, created_at: this.now, updated_at: this.now },
    }
    this.#messages.push(message)
    this.#thread = { ...this.#thread, next_seq: this.#thread.next_seq + 1 }
    this.#threadChanged = true
    const { id, seq, model, tools_used, untrusted } = message
    this.event('message', { id, seq, role, content, model, tools_used, untrusted })
  }

  /** What this letter adds to the conversation. */
  get said(): readonly Message[] {
    return this.#messages
  }

  also(effects: Effects): void {
    this.#more.push(effects)
  }

  /** What this letter spends. */
  get spent(): readonly Spend[] {
    return this.#more.flatMap(({ spend = [] }) => spend)
  }

  /** What people read of a failure, in the place of words that are the same for all. */
  explain(why: string): void {
    this.#why = why
  }

  /**
   * Ends the job, with all that it still asks or was about to do. `notice`: what else people read
   * then.
   */
  end({ status, error }: JobEnd, notice?: string): void {
    if (status === 'failed') this.say('notice', this.#why ?? noticeOf(error ?? 'failed'))
    if (notice !== undefined) this.say('notice', notice)
    const { ended_at } = concludeJob(this.#job, { status, error }, this.now)
    this.set({ status, error, ended_at })
  }

  effects(): Effects {
    const writes = [
      ...[...this.#steps.values()].map(saveStep),
      ...(this.#added.length > 0 ? [insertSteps(this.#added)] : []),
      ...(this.#messages.length > 0 ? [insertMessages(this.#messages)] : []),
      ...(this.#thread && this.#threadChanged ? [saveThread(this.#thread, this.now)] : []),
      saveJob(this.#job),
      ...this.#calledOff(),
    ]
    const events = isOver(this.#job) ? [settledEvent(this.#job)] : []
    return merge({ writes, events }, eventEffects(this.#events), ...this.#more)
  }

  /** What a job that ends before its time still asks or was about to do. */
  #calledOff() {
    const { id, status, error } = this.#job
    if (status !== 'failed' && status !== 'cancelled') return []
    const how = error === 'approval_expired' ? 'expiry' : 'cancel'
    return [cancelSteps(id, [...this.#steps.keys()], this.now), rejectPending(id, how, this.now)]
  }
}

/** What a person reads of a failed job. */
const notices: Record<string, string> = {
  approval_expired:
    'Nobody decided within 24 hours, so this was not done. Ask again if you still want it.',
  caller_gone: 'Whoever asked for this no longer has access to the workspace.',
  deadline: 'This took longer than 15 minutes of work and was stopped.',
  enqueue_failed: 'This was interrupted three times and given up.',
  max_steps: 'This needed more steps than the plan allows.',
  model_invalid: 'The model gave no usable answer three times in a row.',
  model_required: 'No language model is set.',
  unknown_command: 'The goal is not a command that exists.',
}

const noticeOf = (error: string): string => {
  if (error.startsWith('plan_invalid'))
    return `The workspace's billing was not in order for a week (${error}), so this was given up.`
  if (error.startsWith('budget_exhausted'))
    return `The budget of the agent is used up (${error.slice('budget_exhausted:'.length)}).`
  return notices[error] ?? `This failed: ${error}`
}
