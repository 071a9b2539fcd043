/**
 * What the page of a reply to a channel shows: what goes to whom, and either the forms to decide or
 * what became of it.
 */
import type { ShownChannelReply as Reply } from '#contract/agent/channel-replies'
import { channelTraits } from '#domain/agent/channel/channel'
import { type Html, html } from './html.ts'
import { field, type Problem, timeText } from './layout.ts'

export interface ReplyPage {
  reply: Reply
  workspace: string
  /** The name of the person who decided. */
  by?: string | undefined
  /** Why the reader cannot decide. */
  refusal?: string | undefined
  /** What somebody typed that could not be sent. */
  typed?: string | undefined
  problems?: Problem[] | undefined
}

const TITLES: Record<Reply['status'], string> = {
  held: 'Send this reply?',
  queued: 'On its way',
  sending: 'On its way',
  sent: 'Sent',
  failed: 'Not sent',
  unknown: 'Did this reply arrive?',
  discarded: 'Discarded',
}

export const replyTitle = ({ reply }: ReplyPage): string => TITLES[reply.status]

const UNKNOWN =
  'The channel did not say whether it took all of this. Ask the recipient, or look in the channel, then say whether it arrived.'

const whatBecame = ({ reply, by }: ReplyPage): Html | undefined => {
  const { status, error, decidedAt, sentAt } = reply
  const decided =
    decidedAt === null
      ? undefined
      : html` by ${by ?? 'a person who has left the workspace'}, ${timeText(decidedAt)}`
  switch (status) {
    case 'held':
      return undefined
    case 'discarded':
      // The person who let the reply go earlier is not the one who discarded it.
      return html`<p class="note">Discarded${error === null ? decided : html`: ${error}`}. ${sentAt === null ? 'It was not sent' : 'The rest of it was not sent'}.</p>`
    case 'sent':
      return html`<p class="note">Sent${sentAt === null ? undefined : html`, ${timeText(sentAt)}`}.${decidedAt === null ? undefined : html` Let go${decided}.`}</p>`
    case 'unknown':
      return html`<p class="note"><strong>${UNKNOWN}</strong>${error === null ? undefined : html` The reason: ${error}.`}</p>`
    case 'failed':
      return html`<p class="note">It was not sent, or not all of it: ${error ?? 'no reason is known'}.</p>`
    default:
      if (isOnTheWire(reply))
        return html`<p class="note">A message of it is on its way just now${error === null ? undefined : html` (${error})`}.</p>`
      return html`<p class="note">It goes out soon${error === null ? undefined : html`. The last try: ${error}`}.</p>`
  }
}

const STATES: Record<Reply['parts'][number]['state'], string> = {
  queued: 'waits',
  sending: 'is being sent',
  sent: 'sent',
  failed: 'not sent',
  unknown: 'perhaps sent',
}

/** Whether one of its messages is being sent. Nobody can stop that message. */
const isOnTheWire = ({ parts }: Reply): boolean => parts.some(({ state }) => state === 'sending')

const messages = ({ parts }: Reply): Html | undefined =>
  parts.length < 2
    ? undefined
    : html`<h2>Its messages</h2>
<ol>${parts.map(({ text, state, error }) => html`<li><p>${STATES[state]}${error === null ? undefined : html`: ${error}`}</p><div class="text" dir="auto">${text}</div></li>`)}</ol>`

const details = ({ reply, workspace }: ReplyPage, withText: boolean): Html => html`<dl>
${withText ? html`<dt>Text</dt><dd class="text" dir="auto">${reply.text}</dd>` : undefined}
<dt>To</dt><dd dir="auto">${reply.recipient}</dd>
<dt>Channel</dt><dd>${channelTraits[reply.channel].name}</dd>
${reply.question === null ? undefined : html`<dt>They wrote</dt><dd class="text" dir="auto">${reply.question.text}${reply.question.isCut ? ' …' : undefined}</dd>`}
${reply.status === 'held' && reply.why !== null ? html`<dt>Why it waits</dt><dd>${reply.why}</dd>` : undefined}
<dt>Workspace</dt><dd>${workspace}</dd>
<dt>Written</dt><dd>${timeText(reply.createdAt)}</dd>
</dl>`

const button = (decision: string, label: string, isPlain = false): Html =>
  html`<button name="decision" value="${decision}"${isPlain ? html` class="plain"` : undefined}>${label}</button>`

const discarding = (
  action: string,
  label: string,
): Html => html`<form method="post" action="${action}">
${button('discard', label, true)}
</form>`

/**
 * Includes what the person has seen, because somebody else may settle the reply in the meantime.
 */
const settling = (action: string, { updatedAt }: Reply): Html => {
  const seen = html`<input type="hidden" name="seen" value="${new Date(updatedAt).toISOString()}">`
  return html`<form method="post" action="${action}">
${seen}
${button('arrived', 'It arrived')}
</form>
<form method="post" action="${action}">
${seen}
<p class="hint">Only what may not have arrived is sent again, and what follows it.</p>
${button('not_arrived', 'It did not arrive: send it again', true)}
</form>`
}

/** There are two forms, because Enter must never discard. */
const forms = ({ reply, typed, problems }: ReplyPage): Html | undefined => {
  const action = `/replies/${reply.id}`
  if (reply.status === 'failed')
    return html`<form method="post" action="${action}">
<p class="hint">What was sent, or may have been, is not repeated.</p>
${button('send', 'Send again')}
</form>`
  if (reply.status === 'unknown') return settling(action, reply)
  if (reply.status === 'queued' || reply.status === 'sending')
    return discarding(action, 'Send nothing more')
  if (reply.status !== 'held') return undefined
  const text = {
    name: 'text',
    label: 'Text',
    autocomplete: 'off',
    lines: 12,
    problems,
    value: typed ?? reply.text,
    hint: 'In Markdown. If you change it, your text is sent.',
  }
  // Somebody else may send it with other words in the meantime.
  const seen =
    reply.contentHash === null
      ? undefined
      : html`<input type="hidden" name="hash" value="${reply.contentHash}">`
  return html`<form method="post" action="${action}">
${seen}
${reply.contentHash === null ? undefined : field(text)}
${button('send', 'Send')}
</form>
${discarding(action, 'Discard')}`
}

/** Whether the page has the forms. */
export const canDecideReply = ({ reply, refusal }: ReplyPage): boolean =>
  refusal === undefined && isOpen(reply)

const OPEN: readonly Reply['status'][] = ['held', 'queued', 'sending', 'failed', 'unknown']

const isOpen = ({ status }: Reply): boolean => OPEN.includes(status)

export const replyBody = (shown: ReplyPage): Html => {
  const { reply, refusal } = shown
  return html`${whatBecame(shown)}
${isOpen(reply) && refusal !== undefined ? html`<p class="note">${refusal}</p>` : undefined}
${details(shown, !(canDecideReply(shown) && reply.status === 'held'))}
${messages(reply)}
${canDecideReply(shown) ? forms(shown) : undefined}`
}
