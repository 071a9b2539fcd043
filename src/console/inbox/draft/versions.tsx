/** The versions of a text: who wrote what and when, and an older one taken back into the editor. */
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ExactText } from '../../parts/exact-text.tsx'
import { ReadView } from '../../parts/states.tsx'
import { Unfold } from '../../parts/unfold.tsx'
import { When } from '../../parts/when.tsx'
import { WordsChanged } from '../../parts/words-changed.tsx'
import { writerName } from '../../parts/writer-name.ts'
import type { TypedOver } from '../../typed/use-typed-over.ts'
import type { DraftItem } from './item.ts'
import { markOf } from './mark.ts'
import { type TextOf, useRevisions } from './use-revisions.ts'

type Author = Parameters<typeof writerName>[0]

interface TextVersion {
  number: number
  written_by: Author
  written_at: string
  body: string | null
}

interface Versioned {
  /** The record's, with the marks of its texts. */
  record: Pick<DraftItem, 'id' | 'revision' | 'versions'>
  edited: TypedOver & { mayEdit: boolean }
  /** Takes the focus to the editor. */
  begin(): void
}

interface VersionProps extends Versioned {
  version: TextVersion
  /** The one that it replaced; undefined for the first. */
  before: TextVersion | undefined
}

/** What is typed and not saved comes back with undo. */
const takeBack = ({ edited, begin, version }: VersionProps): void => {
  const { text, isEdited } = edited
  edited.change(version.body ?? '')
  begin()
  notify({
    says: `Version ${version.number} is in the editor, and not saved yet`,
    undo: isEdited ? () => edited.change(text) : edited.forget,
  })
}

const Changed = ({ version, before }: Pick<VersionProps, 'version' | 'before'>) =>
  before === undefined ? (
    <ExactText text={version.body ?? ''} />
  ) : (
    <WordsChanged
      before={before.body ?? ''}
      after={version.body ?? ''}
      called={[`Version ${before.number}`, `Version ${version.number}`]}
    />
  )

const Version = (props: VersionProps) => {
  const { record, edited, version, before } = props
  const isPresent = version.number === record.revision
  const hash = record.versions.find(({ number }) => number === version.number)?.content_hash
  const head = (
    <>
      <strong>Version {version.number}</strong>
      <span className="soft">
        <bdi>{writerName(version.written_by)}</bdi>, <When at={version.written_at} />
        {isPresent && ', now'}
      </span>
      <span className="mono soft">{markOf(hash)}</span>
    </>
  )
  return (
    <li>
      <Unfold summary={head}>
        {() => (
          <>
            <Changed version={version} before={before} />
            {!isPresent && edited.mayEdit && (
              <ActionButton act={() => takeBack(props)}>Take this text back</ActionButton>
            )}
          </>
        )}
      </Unfold>
    </li>
  )
}

const VersionList = ({ of, ...versioned }: Versioned & { of: TextOf }) => {
  const read = useRevisions(of, versioned.record.id)
  const versions = read.data?.revisions ?? []
  return (
    <ReadView read={read} what="The versions">
      <ol className="version-list" reversed>
        {versions
          .map((version, at) => (
            <Version
              key={version.number}
              {...versioned}
              version={version}
              before={versions[at - 1]}
            />
          ))
          .reverse()}
      </ol>
    </ReadView>
  )
}

/** A text that has a single version shows none. */
export const Versions = (props: Versioned & { of: TextOf }) =>
  props.record.revision < 2 ? null : (
    <Unfold className="unfold" summary={`${props.record.revision} versions`}>
      {() => <VersionList {...props} />}
    </Unfold>
  )
