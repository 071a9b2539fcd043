/** A draft: its text as the network will show it, when it goes out, and what is decided. */
import { useId, useRef, useState } from 'react'
import { errorWords } from '../../api/errors.ts'
import { useRead } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { Bones, ReadView } from '../../parts/states.tsx'
import { AskingCalls } from '../asking-calls.tsx'
import type { PaneProps } from '../pane-props.ts'
import { About } from './about.tsx'
import { YourChanges } from './changes.tsx'
import { checkText, type TextRules } from './checks.ts'
import { Comments } from './comments.tsx'
import { BothTexts } from './conflict.tsx'
import { Count } from './count.tsx'
import { Editor, type EditorHandle } from './editor.tsx'
import { DraftFoot } from './foot.tsx'
import type { DraftItem } from './item.ts'
import { SlotChoice } from './slot-choice.tsx'
import { useDecisions } from './use-decisions.ts'
import { type EditedDraft, useDraft } from './use-draft.ts'
import { type Preview, usePreview } from './use-preview.ts'
import { useRules } from './use-rules.ts'
import { useSlots } from './use-slots.ts'
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
          <strong>{account.handle}</strong>
          <span className="soft">
            @{account.handle} · {account.network}
          </span>
        </span>
      ) : (
        <span className="soft">No account is connected</span>
      )}
    </p>
  )
}

interface PostProps {
  draft: EditedDraft
  rules: TextRules
  preview: Preview | undefined
  handle: { current: EditorHandle | null }
  approve(): void
}

const Post = ({ draft, rules, preview, handle, approve }: PostProps) => {
  const id = useId()
  const check = checkText(draft.text, rules)
  const save = (): void =>
    void draft.save().catch((cause) =>
      notify({
        says: `Not saved yet; this browser keeps it. ${errorWords(cause)}`,
        tone: 'care',
      }),
    )
  return (
    <>
      <article className="post">
        <Account item={draft.item} />
        <Editor
          text={draft.text}
          rules={check}
          mayEdit={draft.mayEdit}
          label={rules.kind === 'article' ? 'The article' : 'The post'}
          describedBy={id}
          handle={handle}
          change={draft.change}
          left={save}
          approve={approve}
        />
        <Count
          id={id}
          check={check}
          counted={preview?.length ?? draft.item.length}
          hash={draft.isEdited ? preview?.content_hash : draft.item.content_hash}
        />
      </article>
      <TextWarnings item={draft.item} check={check} preview={preview} isEdited={draft.isEdited} />
    </>
  )
}

const DraftView = ({ item, rules, next }: { item: DraftItem; rules: TextRules; next(): void }) => {
  const draft = useDraft(item)
  const slots = useSlots(item)
  const preview = usePreview(item, draft.text, draft.isEdited)
  const handle = useRef<EditorHandle>(null)
  const [rejects, setRejects] = useState(false)
  const check = checkText(draft.text, rules)
  const hash = draft.isEdited ? preview?.content_hash : item.content_hash
  const decisions = useDecisions({ draft, check, slots, hash, next })
  const edit = () => handle.current?.focus()
  useShortcut('edit', draft.mayEdit ? edit : undefined)
  return (
    <>
      <div className="pane-body">
        {draft.conflict && (
          <BothTexts
            item={item}
            mine={draft.text}
            keepMine={draft.keepMine}
            takeTheirs={draft.reset}
          />
        )}
        <Post
          draft={draft}
          rules={rules}
          preview={preview}
          handle={handle}
          approve={() => decisions.refusal === undefined && decisions.approveForSlot()}
        />
        <SlotChoice slots={slots} />
        {draft.isEdited && !draft.conflict && (
          <YourChanges before={item.body} after={draft.text} reset={draft.reset} />
        )}
        <About item={item} />
        <Comments id={item.id} />
      </div>
      <DraftFoot
        item={item}
        slot={slots.chosen?.at}
        decisions={decisions}
        rejects={rejects}
        setRejects={setRejects}
      />
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
