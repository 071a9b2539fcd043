/** Rows of the contract have some as bytes, which no answer has. */
declare type Buffer = Uint8Array

declare module '*.woff2' {
  const url: string
  // biome-ignore lint/style/noDefaultExport: so does Bun give the address of a file
  export default url
}
