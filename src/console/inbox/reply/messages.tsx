/** What a reply becomes in its channel, message by message. */
import { Exact, ExactText, ExactWords } from '../../parts/exact-text.tsx'
import { When } from '../../parts/when.tsx'
import { channelName, type ReplyMessages, type ReplyToDecide } from './state.ts'

type Part = ReplyToDecide['parts'][number]

const STATES: Record<Part['state'], string> = {
  queued: 'Waits',
  sending: 'Is being sent',
  sent: 'Sent',
  failed: 'Not sent',
  unknown: 'Perhaps sent: this is the part in doubt',
}

const Message = ({ part: { text, state, error } }: { part: Part }) => (
  <li className={`message ${state}`}>
    <ExactText text={text} look="post" />
    <p className="soft">
      {STATES[state]}
      {error !== null && (
        <>
          {': '}
          <ExactWords text={error} />
        </>
      )}
    </p>
  </li>
)

export const Messages = ({ reply }: { reply: ReplyToDecide }) => (
  <section className="pane-part" aria-label="Its messages">
    <h3>As {channelName(reply)} has it</h3>
    <ol className="messages">
      {reply.parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are known by their place
        <Message key={at} part={part} />
      ))}
    </ol>
  </section>
)

/** As it would arrive. One message that is the text itself is not shown twice. */
export const MessagesToCome = ({
  reply,
  messages,
}: {
  reply: ReplyToDecide
  messages: ReplyMessages
}) =>
  messages === null || (messages.length === 1 && messages[0] === reply.text) ? null : (
    <section className="pane-part" aria-label="As it arrives">
      <h3>
        {messages.length === 1
          ? `As ${channelName(reply)} shows it`
          : `As ${channelName(reply)} shows it, in ${messages.length} messages`}
      </h3>
      <ol className="messages">
        {messages.map((text, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages are known by their place
          <li key={at} className="message">
            <ExactText text={text} look="post" />
          </li>
        ))}
      </ol>
    </section>
  )

export const ReplyFacts = ({ reply }: { reply: ReplyToDecide }) => (
  <dl className="fact-list pane-part">
    <div>
      <dt>To</dt>
      <dd dir="auto">
        <Exact text={reply.recipient} />
      </dd>
    </div>
    <div>
      <dt>Channel</dt>
      <dd>{channelName(reply)}</dd>
    </div>
    {reply.why !== null && (
      <div>
        <dt>Why it waits</dt>
        <dd dir="auto">
          <Exact text={reply.why} />
        </dd>
      </div>
    )}
    <div>
      <dt>Written</dt>
      <dd>
        <When at={reply.createdAt} />
      </dd>
    </div>
  </dl>
)
