/** Writing a post by hand: its first words here, the rest in its place in the inbox. */
import { useState } from 'react'
import { errorWords } from '../api/errors.ts'
import { mayCall } from '../api/operations.ts'
import { command, queryClient } from '../api/queries.ts'
import { boot } from '../boot.ts'
import { notify } from '../frame/notices.ts'
import { useShortcut } from '../keys/use-keys.ts'
import { Dialog } from '../parts/dialog.tsx'
import { createStore, useStore } from '../parts/store.ts'
import { hrefOf } from '../router/paths.ts'
import { navigate } from '../router/router.tsx'
import { useTyping } from '../typed/use-typing.ts'

export const writesOne = createStore(false)

const RECORD = 'new post'
const LONGEST = 25_000

const create = async (body: string): Promise<boolean> => {
  try {
    const { item } = await command('growth.items.create', { body })
    await queryClient.invalidateQueries()
    navigate(hrefOf('entry', { kind: 'draft', id: item.id }))
    notify({
      says: 'Kept as a draft',
      undo: async () => void (await command('growth.items.remove', { id: item.id })),
    })
    return true
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
    return false
  }
}

const Form = () => {
  const [busy, setBusy] = useState(false)
  const typing = useTyping(RECORD)
  const { text = '' } = typing
  const close = () => writesOne.set(false)
  const keep = async (): Promise<void> => {
    if (busy || text.trim() === '') return
    setBusy(true)
    const isKept = await create(text)
    setBusy(false)
    if (!isKept) return
    typing.drop()
    close()
  }
  return (
    <Dialog title="Write a post" close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void keep()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void keep()
        }}
      >
        <textarea
          className="field"
          name="body"
          autoComplete="off"
          aria-label="The post"
          dir="auto"
          rows={6}
          maxLength={LONGEST}
          value={text}
          onChange={({ target }) => typing.type(target.value)}
        />
        <p className="soft">It waits in the inbox like any draft, and uses no quota.</p>
        <div className="dialog-actions">
          <button type="button" className="action plain" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="action go" aria-disabled={busy || text.trim() === ''}>
            Keep as a draft
          </button>
        </div>
      </form>
    </Dialog>
  )
}

export const WriteOne = () => {
  const isOpen = useStore(writesOne)
  const may = mayCall(boot.session.role, 'growth.items.create')
  useShortcut('write', may ? () => writesOne.set(true) : undefined)
  return isOpen ? <Form /> : null
}
