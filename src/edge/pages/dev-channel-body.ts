/** What the page for talking through a dev channel shows. */
import type { ChannelConnection } from '#domain/agent/channel/channel'
import { isOver, type JobStatus } from '#domain/agent/job/job'
import type { TalkRow } from '#store/agent/channel-talk'
import { type Html, html } from './html.ts'
import { field, hiddenField, type Problem, timeText } from './layout.ts'

export interface Talk {
  connection: ChannelConnection
  said: readonly TalkRow[]
  /** Whether the sender is linked to the person. */
  isLinked: boolean
  workspace: string
  /** The name of the message that the form sends, so that it is taken only once. */
  event: string
  /**
   * Whether the last message was not taken, because only members may begin jobs here, or because
   * strangers have begun too many today.
   */
  isDeclined: boolean
  typed?: string | undefined
  problems?: Problem[] | undefined
}

export const LONGEST = 10_000

const isOpen = (status: JobStatus | null): boolean => status !== null && !isOver({ status })

/** Whether an answer has yet to come. */
export const isAwaited = (said: readonly TalkRow[]): boolean =>
  said.some(({ way, state, job_id, job_status }) => {
    if (way === 'out') return state === 'queued' || state === 'sending'
    return (
      state === 'fetching' ||
      (isOpen(job_status) && !said.some((one) => one.way === 'out' && one.job_id === job_id))
    )
  })

const STATES: Record<string, string> = {
  fetching: 'waits to be read',
  queued: 'being sent',
  sending: 'being sent',
  discarded: 'discarded',
  failed: 'failed',
  unknown: 'it may have been sent',
}

const stateOf = ({ id, way, state, error }: TalkRow): Html | undefined => {
  if (way === 'out' && state === 'held')
    return html` · <a href="/replies/${id}">waits for a person</a>`
  const says = STATES[state]
  return says === undefined ? undefined : html` · ${says}${error === null ? '' : `: ${error}`}`
}

const saidHtml = (said: TalkRow): Html => html`<h2>${said.way === 'in' ? 'You' : 'The agent'}</h2>
<p class="hint">${timeText(said.created_at.toISOString())}${stateOf(said)}</p>
<div class="text" dir="auto">${said.text ?? '…'}</div>`

const DECLINED = html`<p class="note">The message was not taken: either only linked senders can start jobs here, or those who are not linked have started enough for today.</p>`

const inactive = ({ status, last_error }: ChannelConnection): Html =>
  html`<p class="note">This channel takes nothing in: it is ${status}${last_error === null ? '' : `, ${last_error}`}.</p>`

const formHtml = ({
  connection,
  event,
  typed,
  problems,
}: Talk): Html => html`<form method="post" action="/channels/dev/${connection.id}">
${hiddenField('event', event)}
${field({ name: 'text', label: 'Message', autocomplete: 'off', lines: 4, value: typed, problems })}
<button>Send</button>
</form>`

const linkForm = ({
  id,
}: ChannelConnection): Html => html`<form method="post" action="/channels/dev/${id}">
<p class="note">Nobody is linked to this sender, so the agent takes you for a stranger here. A link makes it you, as a code that you send does in other channels.</p>
<button class="plain" name="decision" value="link">Link this sender to me</button>
</form>`

const writing = (talk: Talk): Html => {
  if (talk.connection.status === 'unverified') return inactive(talk.connection)
  return talk.isLinked ? formHtml(talk) : html`${formHtml(talk)}${linkForm(talk.connection)}`
}

export const talkBody = (talk: Talk): Html => html`${talk.said.map(saidHtml)}
${talk.isDeclined && !talk.isLinked ? DECLINED : undefined}
${isAwaited(talk.said) ? html`<p class="note">The agent is at work. <a href="/channels/dev/${talk.connection.id}?wait=1">Look again</a></p>` : undefined}
${writing(talk)}
<dl>
<dt>You write</dt><dd>${talk.isLinked ? 'As yourself' : 'As a stranger'}</dd>
<dt>Routing key</dt><dd>${talk.connection.routing_key}</dd>
<dt>Workspace</dt><dd>${talk.workspace}</dd>
</dl>`
