/** A draft: its text as the network will show it, when it goes out, and what is decided. */
import { type ReactNode, useRef } from 'react'
import { useRead } from '../../api/queries.ts'
import { Bones, ReadView } from '../../parts/states.tsx'
import { Swiped } from '../../parts/swiped.tsx'
import { whenOf } from '../../parts/when.tsx'
import { AskingCalls } from '../asking-calls.tsx'
import type { PaneProps } from '../pane-props.ts'
import { About, BesideText } from './about.tsx'
import { YourChanges } from './changes.tsx'
import { checkText, type TextRules } from './checks.ts'
import { Comments } from './comments.tsx'
import { BothTexts } from './conflict.tsx'
import { EditedPost } from './edited-post.tsx'
import type { EditorHandle } from './editor.tsx'
import { DraftFoot } from './foot.tsx'
import type { DraftItem } from './item.ts'
import { SlotChoice } from './slot-choice.tsx'
import { TagList } from './tag-list.tsx'
import { useDecisions } from './use-decisions.ts'
import { useDraft } from './use-draft.ts'
import { usePreview } from './use-preview.ts'
import { useRules } from './use-rules.ts'
import { useSlots } from './use-slots.ts'
import { Versions } from './versions.tsx'
import { TextWarnings } from './warnings.tsx'

const Account = ({ item }: { item: DraftItem }) => {
  const account = item.posting_account
  return (
    <p className="post-by">
      <span className="avatar" aria-hidden="true">
        {(account?.handle ?? '?').charAt(0).toUpperCase()}
      </span>
      {account ? (
        <span>
          <strong>
            <bdi>@{account.handle}</bdi>
          </strong>
          <span className="soft">{account.network}</span>
        </span>
      ) : (
        <span className="soft">No account is connected</span>
      )}
    </p>
  )
}

interface SwipedDraftProps {
  decisions: ReturnType<typeof useDecisions>
  slot: string | undefined
  children: ReactNode
}

/** A swipe to the right approves it for the chosen time; one to the left opens the reasons. */
const SwipedDraft = ({ decisions, slot, children }: SwipedDraftProps) => (
  <Swiped
    right={
      slot === undefined
        ? undefined
        : {
            says: `Approve ${whenOf(slot)}`,
            shortcut: 'approveForSlot',
            calls: 'growth.items.approve',
            isRefused: decisions.refusal !== undefined,
          }
    }
    left={{ says: 'Reject', shortcut: 'reject', calls: 'growth.items.reject' }}
  >
    <div className="pane-body">{children}</div>
  </Swiped>
)

const DraftView = ({ item, rules, next }: { item: DraftItem; rules: TextRules; next(): void }) => {
  const draft = useDraft(item)
  const slots = useSlots(item)
  const preview = usePreview(item, draft.text, draft.isEdited)
  const check = checkText(draft.text, rules)
  const hash = draft.isEdited ? preview?.content_hash : item.content_hash
  const handle = useRef<EditorHandle>(null)
  const decisions = useDecisions({ draft, check, slots, hash, next })
  return (
    <>
      <SwipedDraft decisions={decisions} slot={slots.chosen?.at}>
        {draft.isStale && (
          <BothTexts
            of="item"
            record={item}
            mine={draft.text}
            keepMine={draft.keepMine}
            takeTheirs={draft.forget}
          />
        )}
        <EditedPost
          kind={rules.kind}
          edited={draft}
          check={check}
          label={rules.kind === 'article' ? 'The article' : 'The post'}
          counted={preview?.length ?? item.length}
          handle={handle}
          hash={hash}
          approve={() => decisions.refusal === undefined && decisions.approveForSlot()}
        >
          <Account item={item} />
        </EditedPost>
        <BesideText marks={draft.isEdited ? preview?.marks : item.marks} />
        <TextWarnings
          check={check}
          preview={preview}
          warnings={draft.isEdited ? preview?.warnings : item.warnings}
        />
        <SlotChoice slots={slots} />
        {draft.isEdited && !draft.isStale && (
          <YourChanges before={item.body} after={draft.text} reset={draft.forget} />
        )}
        <TagList item={item} />
        <About item={item} />
        <Versions of="item" record={item} edited={draft} begin={() => handle.current?.focus()} />
        <Comments id={item.id} />
      </SwipedDraft>
      <DraftFoot item={item} slot={slots.chosen?.at} decisions={decisions} />
    </>
  )
}

export const DraftPane = ({ id, entry, next }: PaneProps) => {
  const read = useRead('growth.items.get', { id })
  const item = read.data?.item
  const rules = useRules(item)
  return (
    <>
      <AskingCalls entry={entry} />
      <ReadView read={read} what="The draft" lines={6}>
        {item && rules ? <DraftView key={id} item={item} rules={rules} next={next} /> : <Bones />}
      </ReadView>
    </>
  )
}
