/** Adding and removing tags: done at once, and taken back by undo. */
import { errorWords } from '../../api/errors.ts'
import { addUndo, notify } from '../../frame/notices.ts'
import type { DraftItem } from './item.ts'
import { changeItem, storedItem } from './stored-item.ts'
import { withoutTag, withTag } from './tags.ts'

type TagChange = (tags: readonly string[]) => string[]

/** One after another: each change sends all tags. */
let last: Promise<unknown> = Promise.resolve()

const change = (item: DraftItem, next: TagChange): Promise<unknown> => {
  const send = () => changeItem(item, { tags: next((storedItem(item.id) ?? item).tags) })
  last = last.then(send, send)
  return last
}

/** True if it was done. */
const tell = async (done: Promise<unknown>, says: string, undo?: () => void): Promise<boolean> => {
  const step = undo && addUndo(done, undo)
  try {
    await done
    notify({ says, step })
    return true
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
    return false
  }
}

export const useTagging = (item: DraftItem) => {
  const adding =
    (tag: string): TagChange =>
    (tags) =>
      withTag(tags, tag)
  const removing =
    (tag: string): TagChange =>
    (tags) =>
      withoutTag(tags, tag)
  const takeBack = (next: TagChange) => () => void tell(change(item, next), 'Taken back')
  return {
    add: (tag: string): Promise<boolean> =>
      withTag(item.tags, tag).length === item.tags.length
        ? tell(Promise.resolve(), `It is tagged ${tag} already`)
        : tell(change(item, adding(tag)), `Tagged ${tag}`, takeBack(removing(tag.trim()))),
    remove: (tag: string): void =>
      void tell(change(item, removing(tag)), `No longer tagged ${tag}`, takeBack(adding(tag))),
  }
}
