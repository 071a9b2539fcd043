/** What the network refused: its words, and what can be done about it. */
import { useState } from 'react'
import type { AnswerOf } from '../../api/operations.ts'
import { command, queryClient, useRead } from '../../api/queries.ts'
import { ActionButton } from '../../parts/action.tsx'
import { Exact } from '../../parts/exact-text.tsx'
import { ReadView } from '../../parts/states.tsx'
import { whenOf } from '../../parts/when.tsx'
import { hrefOf } from '../../router/paths.ts'
import { navigate } from '../../router/router.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import { enact, type ListDecision } from '../decide.ts'
import { type DraftItem, firstLineOf } from '../draft/item.ts'
import { markOf } from '../draft/mark.ts'
import { Reasons } from '../draft/reasons.tsx'
import { SlotChoice } from '../draft/slot-choice.tsx'
import { useSlots } from '../draft/use-slots.ts'
import type { PaneProps } from '../pane-props.ts'
import { sentWords } from '../sent-words.ts'

type Engagement = AnswerOf<'growth.engagements.get'>['engagement']

interface RefusedProps {
  text: string | null
  hash: string | null
  /** As the network put it. */
  words: string | null
}

const Refused = ({ text, hash, words }: RefusedProps) => (
  <>
    <h2>The network refused it</h2>
    <blockquote className="network-words plain-text" dir="auto">
      <Exact text={words ?? 'It gave no reason.'} />
    </blockquote>
    <p className="plain-text refused-text" dir="auto">
      <Exact text={text ?? ''} />
    </p>
    <p className="soft mono" title={hash ?? undefined}>
      {markOf(hash)}
    </p>
  </>
)

const editAgain = (item: DraftItem): Omit<ListDecision<unknown>, 'id' | 'about'> => ({
  says: 'It is a draft again',
  async act() {
    await command('growth.items.reopen', { id: item.id })
    await queryClient.invalidateQueries()
    const kind = item.kind === 'article' ? 'article' : 'draft'
    navigate(hrefOf('entry', { kind, id: item.id }))
  },
})

const useItemDecisions = (item: DraftItem, next: () => void) => {
  const slots = useSlots(item)
  const slot = slots.chosen?.at
  const enactIt = <A,>(decision: Omit<ListDecision<A>, 'id' | 'about'>): void =>
    void enact({ ...decision, id: item.id, about: firstLineOf(item) })
  const begin: typeof enactIt = (decision) => {
    next()
    enactIt(decision)
  }
  const { id } = item
  return {
    slots,
    edit: () => enactIt(editAgain(item)),
    postNow: () =>
      begin({
        says: 'Handed to the network',
        act: () => command('growth.items.postNow', { id, wait: 1 }),
        check: ({ item: sent }) => sentWords[sent.status],
      }),
    schedule:
      slot === undefined
        ? undefined
        : {
            at: slot,
            act: () =>
              begin({
                says: `Scheduled for ${whenOf(slot)}`,
                act: () =>
                  command('growth.items.schedule', { id, post_at: slot, only_if_free: true }),
              }),
          },
    reject: (reason: string | undefined) =>
      begin({
        says: 'Rejected',
        act: () => command('growth.items.reject', { id, ...(reason && { reason }) }),
      }),
  }
}

type Decisions = ReturnType<typeof useItemDecisions>

const ItemFoot = ({ item, decisions }: { item: DraftItem; decisions: Decisions }) => {
  const [asked, setAsked] = useState<'reject' | 'post'>()
  const close = () => setAsked(undefined)
  if (asked === 'reject')
    return (
      <div className="pane-foot">
        <Reasons choose={decisions.reject} cancel={close} />
      </div>
    )
  return (
    <div className="pane-foot">
      <ActionButton
        calls="growth.items.reject"
        shortcut="reject"
        tone="harm"
        act={() => setAsked('reject')}
      >
        Reject
      </ActionButton>
      <ActionButton calls="growth.items.reopen" shortcut="edit" act={decisions.edit}>
        Edit
      </ActionButton>
      <ActionButton calls="growth.items.postNow" shortcut="postNow" act={() => setAsked('post')}>
        Post now
      </ActionButton>
      <span className="pane-foot-gap" />
      {decisions.schedule && (
        <ActionButton
          calls="growth.items.schedule"
          shortcut="approveForSlot"
          tone="go"
          act={decisions.schedule.act}
        >
          Schedule {whenOf(decisions.schedule.at)}
        </ActionButton>
      )}
      {asked === 'post' && (
        <AskToSend
          title={`Post now as @${item.posting_account?.handle ?? '?'}?`}
          does="Post now"
          text={firstLineOf(item)}
          act={decisions.postNow}
          close={close}
        />
      )}
    </div>
  )
}

const RefusedItem = ({ item, next }: { item: DraftItem; next(): void }) => {
  const decisions = useItemDecisions(item, next)
  return (
    <>
      <div className="pane-body">
        <Refused text={item.body} hash={item.content_hash} words={item.last_error} />
        <SlotChoice slots={decisions.slots} />
      </div>
      {item.status === 'publish_failed' && <ItemFoot item={item} decisions={decisions} />}
    </>
  )
}

const ItemPane = ({ id, next }: Pick<PaneProps, 'id' | 'next'>) => {
  const read = useRead('growth.items.get', { id })
  return (
    <ReadView read={read} what="The post" lines={6}>
      {read.data && <RefusedItem key={id} item={read.data.item} next={next} />}
    </ReadView>
  )
}

const EngagementFoot = ({ engagement, next }: { engagement: Engagement; next(): void }) => {
  const { id, body, action } = engagement
  const about = body ?? action
  const reject = (): void => {
    next()
    void enact({
      id,
      about,
      says: 'Rejected',
      act: () => command('growth.engagements.reject', { id }),
      undo: () => command('growth.engagements.reopen', { id }),
    })
  }
  const edit = (): void =>
    void enact({
      id,
      about,
      says: 'It is a draft again',
      async act() {
        await command('growth.engagements.reopen', { id })
        await queryClient.invalidateQueries()
        navigate(hrefOf('entry', { kind: 'engagement', id }))
      },
    })
  return (
    <div className="pane-foot">
      <ActionButton calls="growth.engagements.reject" shortcut="reject" tone="harm" act={reject}>
        Reject
      </ActionButton>
      <span className="pane-foot-gap" />
      <ActionButton calls="growth.engagements.reopen" shortcut="edit" tone="go" act={edit}>
        Edit, and decide again
      </ActionButton>
    </div>
  )
}

const EngagementPane = ({ id, next }: Pick<PaneProps, 'id' | 'next'>) => {
  const read = useRead('growth.engagements.get', { id })
  const engagement = read.data?.engagement
  return (
    <ReadView read={read} what="The engagement" lines={6}>
      {engagement && (
        <>
          <div className="pane-body">
            <Refused
              text={engagement.body}
              hash={engagement.content_hash}
              words={engagement.last_error}
            />
          </div>
          {engagement.status === 'execute_failed' && (
            <EngagementFoot engagement={engagement} next={next} />
          )}
        </>
      )}
    </ReadView>
  )
}

export const RefusedPane = ({ id, entry, next }: PaneProps) =>
  entry?.record === 'engagement' ? (
    <EngagementPane id={id} next={next} />
  ) : (
    <ItemPane id={id} next={next} />
  )
