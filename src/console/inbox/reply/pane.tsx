/** A reply of the agent that waits for a person: held, or perhaps arrived. */
import { useEffect, useRef, useState } from 'react'
import { mayCall } from '../../api/operations.ts'
import { useRead } from '../../api/queries.ts'
import { boot } from '../../boot.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { ExactText, ExactWords } from '../../parts/exact-text.tsx'
import { Labelled } from '../../parts/labelled.tsx'
import { OthersWords } from '../../parts/others-words.tsx'
import { ReadView } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { WordsChanged } from '../../parts/words-changed.tsx'
import { type Typing, useTyping } from '../../typed/use-typing.ts'
import { markOf } from '../draft/mark.ts'
import { PaneBody } from '../pane-body.tsx'
import type { PaneProps } from '../pane-props.ts'
import { useNews } from '../use-news.ts'
import { Discarding, HeldFoot, UnknownFoot } from './foot.tsx'
import { Messages, MessagesToCome, ReplyFacts } from './messages.tsx'
import {
  channelName,
  isOpen,
  type ReplyMessages,
  type ReplyToDecide,
  replyNews,
  replyState,
} from './state.ts'
import { useReplyDecision } from './use-deciding.ts'

/** A reply on its way is looked at until it has arrived; hints are faster. */
const LOOK_MS = 2_000
const LONGEST = 100_000

const lookAgain = (answer: { reply: ReplyToDecide } | undefined): number | false =>
  (answer?.reply.status === 'queued' || answer?.reply.status === 'sending') && LOOK_MS

const Head = ({ reply }: { reply: ReplyToDecide }) => {
  const { says, tone } = replyState(reply)
  return (
    <header className="pane-title">
      <p>
        <span className={`state ${tone}`}>{says}</span>
      </p>
      <h2 dir="auto">
        An answer to <ExactWords text={reply.recipient} />, by {channelName(reply)}
      </h2>
      {reply.error !== null && (
        <p className="soft" dir="auto">
          The channel said: <ExactWords text={reply.error} />
        </p>
      )}
    </header>
  )
}

const Editor = ({ reply, typing }: { reply: ReplyToDecide; typing: Typing }) => {
  const ref = useRef<HTMLTextAreaElement>(null)
  useEffect(() => ref.current?.focus(), [])
  const text = typing.text ?? reply.text
  return (
    <div className="editing">
      <Labelled label="Your text, in Markdown">
        {({ id }) => (
          <textarea
            ref={ref}
            id={id}
            className="post-text"
            name="text"
            autoComplete="off"
            dir="auto"
            rows={5}
            maxLength={LONGEST}
            value={text}
            onChange={({ target }) => typing.type(target.value)}
          />
        )}
      </Labelled>
      {text !== reply.text && (
        <section className="pane-part" aria-label="Your changes">
          <h3>Your changes</h3>
          <WordsChanged before={reply.text} after={text} called={['Before', 'Yours']} />
        </section>
      )}
    </div>
  )
}

const Text = ({ reply, typing }: { reply: ReplyToDecide; typing: Typing }) => (
  <article className="post" aria-label="The answer">
    <ExactText text={typing.text ?? reply.text} look="post" />
    <p className="post-foot soft">
      <span>{typing.text === undefined ? 'In Markdown' : 'With your changes'}</span>
      <span className="mono">{typing.text === undefined && markOf(reply.contentHash)}</span>
    </p>
  </article>
)

const Question = ({ reply: { question } }: { reply: ReplyToDecide }) =>
  question === null ? null : (
    <section className="question" aria-label="The message that it answers">
      <OthersWords
        whose={[`${question.sender} wrote`, question.subject].filter(Boolean).join(': ')}
        text={`${question.text}${question.isCut ? '…' : ''}`}
      />
      <p className="soft asked-at">
        <When at={question.at} />
      </p>
    </section>
  )

const HELP =
  'Look in the channel, or ask the recipient. What is known to have arrived is never sent again.'

const useReply = (reply: ReplyToDecide, next: () => void) => {
  const typing = useTyping(`reply:${reply.id}`)
  const [isEditing, setEditing] = useState(typing.text !== undefined)
  const [discards, setDiscards] = useState(false)
  const own = useNews(isOpen(reply), () => ({ says: replyNews(reply) }))
  const deciding = useReplyDecision(reply, { typing, next, own })
  const edits = isEditing && reply.status === 'held'
  const sends = edits && mayCall(boot.session.role, 'agent.channelReplies.send')
  useShortcut('endReplyEditing', edits ? () => setEditing(false) : undefined)
  useShortcut('sendFromEditor', sends ? deciding.send : undefined)
  return { typing, edits, setEditing, discards, setDiscards, deciding }
}

const Stale = ({ reply, before }: { reply: ReplyToDecide; before: string | undefined }) =>
  before === undefined || before === reply.text ? null : (
    <section className="conflict" role="alert" aria-label="It has changed">
      <h3>The text has changed since it was shown</h3>
      <WordsChanged before={before} after={reply.text} called={['As it was shown', 'Now']} />
    </section>
  )

interface BodyProps {
  reply: ReplyToDecide
  messages: ReplyMessages
  typing: Typing
  edits: boolean
}

const Body = ({ reply, messages, typing, edits }: BodyProps) => (
  <>
    <Question reply={reply} />
    {edits && <Editor reply={reply} typing={typing} />}
    {!edits && reply.parts.length === 0 && <Text reply={reply} typing={typing} />}
    {typing.text === undefined && <MessagesToCome reply={reply} messages={messages} />}
    {reply.parts.length > 0 && <Messages reply={reply} />}
    <ReplyFacts reply={reply} />
  </>
)

interface DecideProps {
  reply: ReplyToDecide
  messages: ReplyMessages
  next(): void
}

const Decide = ({ reply, messages, next }: DecideProps) => {
  const { typing, edits, setEditing, discards, setDiscards, deciding } = useReply(reply, next)
  const drop = () => {
    typing.drop()
    setEditing(false)
  }
  return (
    <>
      <PaneBody says="The reply">
        <Head reply={reply} />
        {reply.status === 'unknown' && <p className="care-note">{HELP}</p>}
        <Stale reply={reply} before={deciding.stale} />
        <Body {...{ reply, messages, typing, edits }} />
      </PaneBody>
      {isOpen(reply) && (
        <div className="pane-foot">
          {reply.status === 'unknown' ? (
            <UnknownFoot deciding={deciding} />
          ) : (
            <HeldFoot
              {...{ reply, deciding, typing, drop }}
              isEditing={edits}
              discard={() => setDiscards(true)}
              edit={() => setEditing(true)}
            />
          )}
        </div>
      )}
      {discards && (
        <Discarding reply={reply} deciding={deciding} close={() => setDiscards(false)} />
      )}
    </>
  )
}

export const ReplyPane = ({ id, next }: PaneProps) => {
  const read = useRead('agent.channelReplies.get', { id }, { again: lookAgain })
  if (read.data) return <Decide {...read.data} next={next} />
  return (
    <PaneBody says="The reply">
      <ReadView read={read} what="The reply" lines={6}>
        {null}
      </ReadView>
    </PaneBody>
  )
}
