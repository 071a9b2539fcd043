/** Who wrote a text, in words. */

interface NamedAuthor {
  kind: 'person' | 'key' | 'agent' | 'system'
  /** Null: its name is not told, or no longer known. */
  name: string | null
}

const AUTHORS: Record<NamedAuthor['kind'], string> = {
  person: 'Somebody',
  key: 'A program with a key',
  agent: 'The agent',
  system: 'The server',
}

/** Null: a drafter wrote it. */
export const writerName = (author: NamedAuthor | null | undefined): string =>
  author ? (author.name ?? AUTHORS[author.kind]) : 'A drafter'
