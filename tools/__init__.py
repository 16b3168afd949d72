"""What a release needs: lock files read, distributions built twice, a bill of materials."""
