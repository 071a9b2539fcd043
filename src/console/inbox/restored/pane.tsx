/** What may have gone out elsewhere since the backup or copy: a person says what became of it. */
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ExactText } from '../../parts/exact-text.tsx'
import { ReadView } from '../../parts/states.tsx'
import { SlotWords, whenOf } from '../../parts/when.tsx'
import { AskForAddress } from '../ask-for-address.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import { markOf } from '../draft/mark.ts'
import type { PaneProps } from '../pane-props.ts'
import { type Answers, ofEngagement, ofItem, type PerhapsSent, useAnswers } from './perhaps-sent.ts'

const Told = ({ text, hash, asOf }: PerhapsSent) => (
  <>
    <div className="pane-title">
      <p className="state care">Perhaps sent elsewhere</p>
      <h2>It may be on the network already</h2>
      <p>
        {asOf === null
          ? 'Somebody has decided on it.'
          : `It was approved before the backup or copy of ${whenOf(asOf)} from which this deployment was made. Nothing sends it until you say what became of it. Look at the account first.`}
      </p>
    </div>
    <article className="post">
      <ExactText text={text} look="post" />
      <p className="post-foot soft">
        <span className="mono mark-of" title={hash ?? undefined}>
          {markOf(hash)}
        </span>
      </p>
    </article>
  </>
)

type Asks = 'address' | 'send' | undefined

const operationsOf = {
  item: {
    done: 'growth.items.markPosted',
    send: 'growth.items.postNow',
    drop: 'growth.items.reopen',
  },
  engagement: {
    done: 'growth.engagements.done',
    send: 'growth.engagements.execute',
    drop: 'growth.engagements.reopen',
  },
} as const

const Buttons = ({
  it,
  answers,
  ask,
}: {
  it: PerhapsSent
  answers: Answers
  ask(what: Asks): void
}) => {
  const calls = operationsOf[it.record]
  return (
    <div className="pane-foot">
      <ActionButton calls={calls.drop} shortcut="edit" act={answers.drop}>
        Back to a draft
      </ActionButton>
      <ActionButton calls={calls.send} shortcut="postNow" act={() => ask('send')}>
        Send it now
      </ActionButton>
      <span className="pane-foot-gap" />
      {answers.keepTime && it.at && (
        <ActionButton calls="growth.items.schedule" act={answers.keepTime}>
          <span>
            Keep <SlotWords at={it.at} />
          </span>
        </ActionButton>
      )}
      <ActionButton calls={calls.done} tone="go" act={() => ask('address')}>
        It is there
      </ActionButton>
    </div>
  )
}

const Deciding = ({ it, next }: { it: PerhapsSent; next(): void }) => {
  const answers = useAnswers(it, next)
  const [asks, setAsks] = useState<Asks>()
  const close = (): void => setAsks(undefined)
  return (
    <>
      <div className="pane-body">
        <Told {...it} />
      </div>
      {it.asOf !== null && <Buttons it={it} answers={answers} ask={setAsks} />}
      {asks === 'address' && (
        <AskForAddress
          title="Where is it?"
          says="It counts as sent, and nothing sends it again."
          does="It is there"
          known=""
          act={answers.isThere}
          close={close}
        />
      )}
      {asks === 'send' && (
        <AskToSend
          title="Send it now?"
          does="Send it now"
          text={it.text}
          act={answers.send}
          close={close}
        >
          The account is read first: if it is there already, nothing is sent.
        </AskToSend>
      )}
    </>
  )
}

const ItemPane = ({ id, next }: Pick<PaneProps, 'id' | 'next'>) => {
  const read = useRead('growth.items.get', { id })
  return (
    <ReadView read={read} what="The post" lines={6}>
      {read.data && <Deciding key={id} it={ofItem(read.data.item)} next={next} />}
    </ReadView>
  )
}

const EngagementPane = ({ id, next }: Pick<PaneProps, 'id' | 'next'>) => {
  const read = useRead('growth.engagements.get', { id })
  return (
    <ReadView read={read} what="The engagement" lines={6}>
      {read.data && <Deciding key={id} it={ofEngagement(read.data.engagement)} next={next} />}
    </ReadView>
  )
}

export const RestoredPane = ({ id, entry, next }: PaneProps) =>
  entry?.record === 'engagement' ? (
    <EngagementPane id={id} next={next} />
  ) : (
    <ItemPane id={id} next={next} />
  )
