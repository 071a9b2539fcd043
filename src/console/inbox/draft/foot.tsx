/** The decisions about a draft, within the thumb's reach on a phone. */
import { useState } from 'react'
import { errorWords } from '../../api/errors.ts'
import { command, queryClient } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Menu } from '../../parts/menu.tsx'
import { SlotWords } from '../../parts/when.tsx'
import { hrefOf } from '../../router/paths.ts'
import { navigate } from '../../router/router.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import { RejectFoot } from '../reject-foot.tsx'
import { type DraftItem, firstLineOf } from './item.ts'
import type { useDecisions } from './use-decisions.ts'

type Decisions = ReturnType<typeof useDecisions>

const duplicate = async ({ id }: DraftItem): Promise<void> => {
  try {
    const { item } = await command('growth.items.duplicate', { id })
    await queryClient.invalidateQueries()
    navigate(hrefOf('entry', { kind: item.kind === 'article' ? 'article' : 'draft', id: item.id }))
    notify({ says: 'Duplicated: this is the copy' })
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
  }
}

const redraft = async (id: string, hint: string): Promise<void> => {
  try {
    await command('growth.items.redraft', { id, hint })
    notify({ says: 'It is being written again' })
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
  }
  await queryClient.invalidateQueries({ queryKey: ['growth.items.get'] })
}

const AskForHint = ({ item, close }: { item: DraftItem; close(): void }) => {
  const [hint, setHint] = useState('')
  return (
    <Dialog title="Have it written again" close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (hint.trim() === '') return
          close()
          void redraft(item.id, hint)
        }}
      >
        <label className="labelled">
          What to change
          <input
            className="field"
            name="hint"
            autoComplete="off"
            placeholder="shorter, and end on the number"
            maxLength={2_000}
            value={hint}
            onChange={({ target }) => setHint(target.value)}
          />
        </label>
        <p className="soft">It uses one post of the month’s quota, returned if it fails.</p>
        <div className="dialog-actions">
          <button type="button" className="action plain" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="action go" aria-disabled={hint.trim() === ''}>
            Write again
          </button>
        </div>
      </form>
    </Dialog>
  )
}

type Asked = 'post now' | 'redraft' | undefined

const More = ({
  item,
  slot,
  decisions,
  ask,
}: {
  item: DraftItem
  slot: string | undefined
  decisions: Decisions
  ask(what: Asked): void
}) => (
  <Menu says="More to do with this draft" className="more" button={<Icon name="more" />}>
    {(close) => (
      <>
        {slot !== undefined && (
          <span className="on-phone">
            <ActionButton
              calls="growth.items.approve"
              refused={decisions.refusal}
              act={() => {
                close()
                decisions.approve()
              }}
            >
              Approve without a time
            </ActionButton>
          </span>
        )}
        <ActionButton
          calls="growth.items.postNow"
          refused={decisions.refusal}
          shortcut="postNow"
          act={() => {
            close()
            ask('post now')
          }}
        >
          Post now
        </ActionButton>
        <ActionButton
          calls="growth.items.redraft"
          shortcut="redraft"
          act={() => {
            close()
            ask('redraft')
          }}
        >
          Have it written again
        </ActionButton>
        <ActionButton
          calls="growth.items.duplicate"
          act={() => {
            close()
            void duplicate(item)
          }}
        >
          Duplicate
        </ActionButton>
        <ActionButton
          calls="growth.items.remove"
          tone="harm"
          act={() => {
            close()
            decisions.remove()
          }}
        >
          Delete
        </ActionButton>
      </>
    )}
  </Menu>
)

interface FootProps {
  item: DraftItem
  slot: string | undefined
  decisions: Decisions
}

const WithoutTime = ({ decisions, isMain }: { decisions: Decisions; isMain: boolean }) => (
  <ActionButton
    calls="growth.items.approve"
    shortcut="approve"
    refused={decisions.refusal}
    tone={isMain ? 'go' : 'plain'}
    act={decisions.approve}
  >
    Approve
  </ActionButton>
)

/** A phone has the one without a time among more. */
const Approvals = ({ slot, decisions }: Pick<FootProps, 'slot' | 'decisions'>) =>
  slot === undefined ? (
    <WithoutTime decisions={decisions} isMain />
  ) : (
    <>
      <span className="on-desk">
        <WithoutTime decisions={decisions} isMain={false} />
      </span>
      <ActionButton
        calls="growth.items.approve"
        shortcut="approveForSlot"
        refused={decisions.refusal}
        tone="go"
        act={decisions.approveForSlot}
      >
        <span>
          Approve <SlotWords at={slot} />
        </span>
      </ActionButton>
    </>
  )

export const DraftFoot = ({ item, slot, decisions }: FootProps) => {
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  return (
    <>
      <RejectFoot
        calls="growth.items.reject"
        reject={decisions.reject}
        beside={<More item={item} slot={slot} decisions={decisions} ask={setAsked} />}
      >
        <Approvals slot={slot} decisions={decisions} />
      </RejectFoot>
      {asked === 'redraft' && <AskForHint item={item} close={close} />}
      {asked === 'post now' && (
        <AskToSend
          title={
            <>
              Post now as <bdi>@{item.posting_account?.handle ?? '?'}</bdi>?
            </>
          }
          does="Post now"
          text={firstLineOf(item)}
          act={decisions.postNow}
          close={close}
        />
      )}
    </>
  )
}
