/** The tags of a draft: seen, added and removed. */
import { type FormEvent, useId, useRef, useState } from 'react'
import { tagLimits } from '#contract/tag-limits'
import { useRead } from '../../api/queries.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { ActionButton } from '../../parts/action.tsx'
import { Exact } from '../../parts/exact-text.tsx'
import { Icon } from '../../parts/icons.tsx'
import { KeyCaps } from '../../parts/key-caps.tsx'
import type { DraftItem } from './item.ts'
import { mayEditItems } from './stored-item.ts'
import { suggestedTags } from './tags.ts'
import { useTagging } from './use-tagging.ts'

/** The newest items, whose tags are suggested. */
const NEWEST = { limit: 100 }

const Suggestions = ({ id, present }: { id: string; present: readonly string[] }) => {
  const { data } = useRead('growth.items.list', NEWEST)
  return (
    <datalist id={id}>
      {suggestedTags(data?.items ?? [], present).map((tag) => (
        <option key={tag} value={tag} />
      ))}
    </datalist>
  )
}

interface NewTagProps {
  present: readonly string[]
  /** True if it was added. */
  add(tag: string): Promise<boolean>
}

const NewTag = ({ present, add }: NewTagProps) => {
  const [text, setText] = useState('')
  const [isUsed, setUsed] = useState(false)
  const ref = useRef<HTMLInputElement>(null)
  const list = useId()
  useShortcut('tag', () => ref.current?.focus())
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (text.trim() === '' || !(await add(text.trim()))) return
    setText((now) => (now === text ? '' : now))
  }
  return (
    <form className="tag-new" onSubmit={(event) => void send(event)}>
      <input
        ref={ref}
        className="field"
        name="tag"
        autoComplete="off"
        aria-label="Add a tag"
        placeholder="Add a tag"
        dir="auto"
        list={list}
        maxLength={tagLimits.length}
        value={text}
        onFocus={() => setUsed(true)}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          ref.current?.blur()
        }}
      />
      {text === '' && <KeyCaps of="tag" />}
      {isUsed && <Suggestions id={list} present={present} />}
    </form>
  )
}

/** The focus goes to a neighbour of what is about to be removed. */
const focusBeside = (button: HTMLElement): void => {
  const one = button.closest('li')
  const beside = one?.nextElementSibling ?? one?.previousElementSibling
  const field = button.closest('section')?.querySelector('input')
  ;(beside?.querySelector('button') ?? field)?.focus()
}

const Tag = ({ tag, remove }: { tag: string; remove: ((tag: string) => void) | undefined }) => (
  <li className="tag">
    <bdi>
      <Exact text={tag} />
    </bdi>
    {remove && (
      <button
        type="button"
        aria-label={`Remove the tag ${tag}`}
        onClick={({ currentTarget }) => {
          focusBeside(currentTarget)
          remove(tag)
        }}
      >
        <Icon name="close" />
      </button>
    )}
  </li>
)

export const TagList = ({ item }: { item: DraftItem }) => {
  const { add, remove } = useTagging(item)
  const may = mayEditItems()
  return (
    <section className="tags" aria-label="Tags">
      {item.tags.length > 0 && (
        <ul>
          {item.tags.map((tag) => (
            <Tag key={tag} tag={tag} remove={may ? remove : undefined} />
          ))}
        </ul>
      )}
      {may && item.tags.length < tagLimits.tags && <NewTag present={item.tags} add={add} />}
      {!may && (
        <ActionButton calls="growth.items.edit" act={() => undefined}>
          Add a tag
        </ActionButton>
      )}
    </section>
  )
}
