/** Kinds of records that go out to a network. */
export type SendableKind = 'post' | 'engagement'
