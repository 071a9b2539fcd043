/** An article to read, as it goes out, and the editor behind it. */
import { type ReactNode, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react'
import { editArticle } from '#domain/growth/drafting/article-text'
import { ActionButton } from '../../parts/action.tsx'
import { Exact } from '../../parts/exact-text.tsx'
import { quantityOf } from '../../parts/many.ts'
import { type ArticleBlock, articleBlocks, listsIn, readingFacts } from './article-blocks.ts'
import { Editor, type EditorHandle, type EditorProps } from './editor.tsx'
import { layerPieces } from './text-layer.ts'

const UNLIMITED = { limit: 0, measure: undefined }

/** Links are words: what somebody wrote is never followed from here. */
const Words = ({ text }: { text: string }) => (
  <>
    {layerPieces(text, UNLIMITED).map((piece, at) =>
      piece.link || piece.tag ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces are those of one text, in order
        <span key={at} className="is-link">
          <Exact text={piece.text} />
        </span>
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces are those of one text, in order
        <Exact key={at} text={piece.text} />
      ),
    )}
  </>
)

const Mark = ({ of: { mark } }: { of: ArticleBlock }) =>
  mark === '' ? null : <span className="reading-mark">{mark}</span>

const TAGS = { title: 'h2', heading: 'h3', paragraph: 'p', quote: 'blockquote' } as const

const Run = ({ blocks }: { blocks: readonly ArticleBlock[] }): ReactNode => {
  const [first] = blocks
  if (!first) return null
  if (first.kind !== 'item') {
    const Tag = TAGS[first.kind]
    return (
      <Tag dir="auto">
        <Mark of={first} />
        <Words text={first.text} />
      </Tag>
    )
  }
  return (
    <ul>
      {blocks.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items are those of one text, in order
        <li key={at} dir="auto" className={`depth-${item.depth}`}>
          <Mark of={item} />
          <span>
            <Words text={item.text} />
          </span>
        </li>
      ))}
    </ul>
  )
}

const Reading = ({ text }: { text: string }) => {
  const runs = useMemo(() => {
    const { title } = editArticle({ body: text, title: null }, { body: text })
    return listsIn(articleBlocks(text, title))
  }, [text])
  return (
    <div className="reading">
      {runs.map((blocks, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks are those of one text, in order
        <Run key={at} blocks={blocks} />
      ))}
    </div>
  )
}

const Facts = ({ text }: { text: string }) => {
  const { words, minutes } = useMemo(() => readingFacts(text), [text])
  return (
    <span className="soft">
      {quantityOf(words, 'word')}, {quantityOf(minutes, 'minute')} to read
    </span>
  )
}

/** It is read first; `E` leads to the editor, and Escape back. */
export const ArticleText = (props: EditorProps) => {
  const { text, mayEdit, handle } = props
  const [isEditing, setEditing] = useState(false)
  const editor = useRef<EditorHandle>(null)
  const begin = (): void => {
    setEditing(true)
    editor.current?.focus(0)
  }
  useImperativeHandle(handle, () => ({ focus: begin }))
  useEffect(() => {
    if (isEditing) editor.current?.focus(0)
  }, [isEditing])
  return (
    <>
      <div className="reading-head">
        <Facts text={text} />
        {isEditing ? (
          <ActionButton act={() => setEditing(false)}>Read</ActionButton>
        ) : (
          <ActionButton
            calls="growth.items.edit"
            shortcut="edit"
            refused={mayEdit ? undefined : 'Only a draft can be changed.'}
            act={begin}
          >
            Edit
          </ActionButton>
        )}
      </div>
      {isEditing ? (
        <Editor {...props} handle={editor} ended={() => setEditing(false)} />
      ) : (
        <Reading text={text} />
      )}
    </>
  )
}
