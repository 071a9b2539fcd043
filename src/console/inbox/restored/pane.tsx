/** What may have gone out elsewhere since the backup or copy: a person says what became of it. */
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ReadView } from '../../parts/states.tsx'
import { SlotWords, whenOf } from '../../parts/when.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import { ItIsThere, marksAsSent } from '../it-is-there.tsx'
import type { PaneProps } from '../pane-props.ts'
import { SentText } from '../sent-text.tsx'
import { AccountLook } from './account-look.tsx'
import { type Answers, ofEngagement, ofItem, type PerhapsSent, useAnswers } from './perhaps-sent.ts'

/** It was decided meanwhile if it has no time. */
const Told = ({ asOf }: Pick<PerhapsSent, 'asOf'>) => (
  <div className="pane-title">
    <p className="state care">Perhaps sent elsewhere</p>
    <h2>{asOf === null ? 'Somebody has decided on it' : 'It may be on the network already'}</h2>
    {asOf !== null && (
      <p>
        This server goes on from a backup or copy of {whenOf(asOf)}. By then this was approved, so
        it may have gone out since. Look at the account, and say what happened: until then, nothing
        sends it.
      </p>
    )}
  </div>
)

/** `address`: its address as far as it is known. */
type Asks = { address: string } | 'send' | undefined

const operationsOf = {
  item: {
    send: 'growth.items.postNow',
    drop: 'growth.items.reopen',
  },
  engagement: {
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
      <ActionButton calls={marksAsSent[it.record]} tone="go" act={() => ask({ address: '' })}>
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
        <Told asOf={it.asOf} />
        <SentText text={it.text} hash={it.hash} />
        {it.asOf !== null && <AccountLook it={it} pick={(address) => setAsks({ address })} />}
      </div>
      {it.asOf !== null && <Buttons it={it} answers={answers} ask={setAsks} />}
      {typeof asks === 'object' && (
        <ItIsThere record={it.record} known={asks.address} settle={answers.isThere} close={close} />
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
