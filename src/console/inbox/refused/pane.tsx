/** What the network refused: its words, and what can be done about it. */
import { useState } from 'react'
import type { AnswerOf } from '../../api/operations.ts'
import { command, queryClient, useRead } from '../../api/queries.ts'
import { ActionButton } from '../../parts/action.tsx'
import { Exact } from '../../parts/exact-text.tsx'
import { ReadView } from '../../parts/states.tsx'
import { SlotWords, whenOf } from '../../parts/when.tsx'
import { hrefOf } from '../../router/paths.ts'
import { navigate } from '../../router/router.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import { enact, type ListDecision } from '../decide.ts'
import { type DraftItem, firstLineOf } from '../draft/item.ts'
import { SlotChoice } from '../draft/slot-choice.tsx'
import { useSlots } from '../draft/use-slots.ts'
import type { PaneProps } from '../pane-props.ts'
import { RejectFoot } from '../reject-foot.tsx'
import { SentText } from '../sent-text.tsx'
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
    <div className="pane-title">
      <p className="state bad">Not posted</p>
      <h2>The network refused it</h2>
    </div>
    <figure className="others network-words">
      <figcaption>Words of the network</figcaption>
      <blockquote className="plain-text" dir="auto">
        <Exact text={words ?? 'It gave no reason.'} />
      </blockquote>
    </figure>
    <SentText text={text ?? ''} hash={hash} />
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

const ItemButtons = ({ decisions, ask }: { decisions: Decisions; ask(): void }) => (
  <>
    <ActionButton calls="growth.items.reopen" shortcut="edit" act={decisions.edit}>
      Edit
    </ActionButton>
    <ActionButton calls="growth.items.postNow" shortcut="postNow" act={ask}>
      Post now
    </ActionButton>
  </>
)

const ItemFoot = ({ item, decisions }: { item: DraftItem; decisions: Decisions }) => {
  const [asks, setAsks] = useState(false)
  const { schedule } = decisions
  return (
    <>
      <RejectFoot
        calls="growth.items.reject"
        reject={decisions.reject}
        beside={<ItemButtons decisions={decisions} ask={() => setAsks(true)} />}
      >
        {schedule && (
          <ActionButton
            calls="growth.items.schedule"
            shortcut="approveForSlot"
            tone="go"
            act={schedule.act}
          >
            <span>
              Schedule <SlotWords at={schedule.at} />
            </span>
          </ActionButton>
        )}
      </RejectFoot>
      {asks && (
        <AskToSend
          title={
            <>
              Post now as <bdi>@{item.posting_account?.handle ?? '?'}</bdi>?
            </>
          }
          does="Post now"
          text={firstLineOf(item)}
          act={decisions.postNow}
          close={() => setAsks(false)}
        />
      )}
    </>
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
  const reject = (reason: string | undefined): void => {
    next()
    void enact({
      id,
      about,
      says: 'Rejected',
      act: () => command('growth.engagements.reject', { id, ...(reason && { reason }) }),
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
    <RejectFoot calls="growth.engagements.reject" reject={reject}>
      <ActionButton calls="growth.engagements.reopen" shortcut="edit" tone="go" act={edit}>
        Edit, and decide again
      </ActionButton>
    </RejectFoot>
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
